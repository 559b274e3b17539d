// Identities that take two entities of one document for one, though no person said so, or none.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Element&Identity)
WHERE $document IN ['', n.document] AND $collection IN ['', n.collection]
WITH n, COLLECT { MATCH (n)-[:SAME]->(one:Entity) RETURN one.document } AS documents,
  EXISTS { MATCH (n)-[same:SAME]->() WHERE same.by = 'person' } AS decided
WITH n, CASE
  WHEN size(documents) > n.documents AND NOT decided
    THEN 'identities take two entities of one document for one'
  WHEN size(documents) > size(n.members) THEN 'identities tie what is not among their members'
  WHEN EXISTS { MATCH (:Identity)-[:SAME]->()<-[:SAME]-(n) } THEN 'identities share an entity'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
