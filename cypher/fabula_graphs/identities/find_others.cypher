// For each of some entities: the entities of other documents that are the same, those that are not
// though their names are alike, and those of equal keys of which nothing is decided.
// $collection  name of the collection
// $nodes       ids of entities
CYPHER 25
UNWIND $nodes AS id
MATCH (entity:Element {id: id})
  USING INDEX SEEK entity:Element(id)
WHERE entity:Entity AND entity.collection = $collection
WITH collect(entity) AS entities, collect(DISTINCT entity.key) AS keys
// All entities are read once, by the index on collection, kind and document.
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
    row: {id: other.id, name: other.name, type: other.type, title: document.title}}) AS alone
}
UNWIND entities AS entity
OPTIONAL MATCH (entity)<-[own:SAME]-(identity:Identity {collection: $collection})
RETURN entity.id AS id, COLLECT {
    MATCH (identity)-[same:SAME]->(other:Entity {collection: $collection})
    MATCH (document:Document {id: other.document})
    WHERE other <> entity AND document.collection = $collection
    WITH other, document, CASE WHEN same.by IS NULL THEN own ELSE same END AS decision
    RETURN {id: other.id, name: other.name, title: document.title, same: true,
            by: decision.by, why: decision.why, score: decision.score}
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
  [namesake IN alone WHERE namesake.key = entity.key
    AND namesake.document <> entity.document | namesake.row] AS namesakes
