// Of some entities, which of other documents are the same, and which are not though they may seem so.
// $collection  the collection to look in
// $nodes       ids of entities
CYPHER 25
UNWIND $nodes AS id
MATCH (one:Element {id: id})
WHERE one:Entity AND one.collection = $collection
OPTIONAL MATCH (one)<-[own:SAME]-(identity:Identity {collection: $collection})
RETURN id, COLLECT {
    MATCH (identity)-[same:SAME]->(other:Entity {collection: $collection})
    MATCH (document:Document {id: other.document})
    WHERE other <> one AND document.collection = $collection
    WITH other, document, CASE WHEN same.by IS NULL THEN own ELSE same END AS told
    RETURN {id: other.id, name: other.name, title: document.title, same: true,
            by: told.by, why: told.why, score: told.score}
    ORDER BY document.title, other.name, other.id
  } + COLLECT {
    MATCH (identity)-[apart:APART]-(another:Identity {collection: $collection})
      -[:SAME]->(other:Entity {collection: $collection})
    MATCH (document:Document {id: other.document})
    WHERE document.collection = $collection
    RETURN {id: other.id, name: other.name, title: document.title, same: false,
            by: apart.by, why: apart.why, score: apart.score}
    ORDER BY document.title, other.name, other.id
  } AS others,
  COLLECT {
    MATCH (document:Document {collection: $collection})
    MATCH (other:Element {document: document.id})
    WHERE other:Entity AND other.collection = $collection AND other.key = one.key
      AND document.id <> one.document AND NOT EXISTS { (other)<-[:SAME]-(:Identity) }
    RETURN {id: other.id, name: other.name, title: document.title}
    ORDER BY document.title, other.name, other.id
  } AS namesakes
