// Of some entities, which of other documents are the same, and which are not though they may seem so.
// $collection  the collection to look in
// $nodes       ids of entities
CYPHER 25
UNWIND $nodes AS id
MATCH (one:Element {id: id})
  USING INDEX SEEK one:Element(id)
WHERE one:Entity AND one.collection = $collection
WITH collect(one) AS some, collect(DISTINCT one.key) AS keys
// All of a kind are read once, by the index on collection, kind and document.
CALL (keys) {
  MATCH (other:Element {collection: $collection, kind: 'entity'})
    USING INDEX SEEK other:Element(collection, kind, document)
  WHERE other.document >= '' AND other.key IN keys
    AND NOT EXISTS { (other)<-[:SAME]-(:Identity {collection: $collection}) }
  MATCH (document:Document {id: other.document})
    USING INDEX SEEK document:Document(id)
  WHERE document.collection = $collection
  WITH other, document
  ORDER BY document.title, other.name, other.id
  RETURN collect({key: other.key, document: document.id,
    told: {id: other.id, name: other.name, type: other.type, title: document.title}}) AS alone
}
UNWIND some AS one
OPTIONAL MATCH (one)<-[own:SAME]-(identity:Identity {collection: $collection})
RETURN one.id AS id, COLLECT {
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
  [two IN alone WHERE two.key = one.key AND two.document <> one.document | two.told] AS namesakes
