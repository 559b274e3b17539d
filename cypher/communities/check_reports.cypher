// Reports of no community or of several, that cite nodes outside of it, or that have no sources.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:Report)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:REPORTS]->(community:Community) RETURN community } AS communities
WITH n, communities, communities[0] AS community
WITH n, CASE
  WHEN size(communities) <> 1 THEN 'reports do not belong to exactly one community'
  WHEN COUNT { (community)<-[:REPORTS]-() } > 1 THEN 'communities have several reports'
  WHEN n.level <> community.level OR n.title <> community.title
    THEN 'reports have another level or title than their community'
  WHEN NOT coalesce(0 <= n.importance <= 10, false)
    THEN 'reports have an importance that is not from 0 to 10'
  WHEN NOT EXISTS { (n)-[:CITES]->() } THEN 'reports cite nothing'
  WHEN EXISTS { MATCH (n)-[:CITES]->(cited)
    WHERE NOT cited:Claim AND NOT EXISTS {
      MATCH (cited)-[:SOURCE|TARGET]->{0,1}(member:Entity)<-[:HAS_MEMBER]-(community) } }
    THEN 'reports cite nodes that belong to no member of their community'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
