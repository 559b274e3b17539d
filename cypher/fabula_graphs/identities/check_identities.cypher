// Identities with two entities of one document, though no person joined them, or with wrong members.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:Element&Identity)
WHERE $document IN ['', n.document] AND $collection IN ['', n.collection]
WITH n, COLLECT { MATCH (n)-[:SAME]->(entity:Entity) RETURN entity.document } AS documents,
  EXISTS { MATCH (n)-[same:SAME]->() WHERE same.by = 'person' } AS decided
WITH n, CASE
  WHEN size(documents) > n.documents AND NOT decided
    THEN 'identities have two entities of one document'
  WHEN size(documents) > size(n.members)
    THEN 'identities have an edge to an entity that is not among their members'
  WHEN EXISTS { MATCH (:Identity)-[:SAME]->()<-[:SAME]-(n) } THEN 'identities share an entity'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
