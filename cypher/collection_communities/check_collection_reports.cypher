// Reports that are of no community or of several, that cite what its members do not have, or that
// say nothing they could cite.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:CollectionReport)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:REPORTS]->(one:CollectionCommunity) RETURN one } AS of
WITH n, of, of[0] AS one
WITH n, CASE
  WHEN size(of) <> 1 THEN 'reports are not of one community'
  WHEN COUNT { (one)<-[:REPORTS]-() } > 1 THEN 'communities have several reports'
  WHEN n.level <> one.level OR n.title <> one.title
    THEN 'reports are of another level or title than their community'
  WHEN NOT coalesce(0 <= n.importance <= 10, false)
    THEN 'reports have an importance that is not from 0 to 10'
  WHEN NOT EXISTS { (n)-[:CITES]->() } THEN 'reports cite nothing'
  WHEN EXISTS { MATCH (n)-[:CITES]->(cited)
    WHERE NOT EXISTS {
      MATCH (cited)-[:SOURCE|TARGET]->{0,1}(who:Entity)<-[:HAS_MEMBER]-(one) } }
    THEN 'reports cite what is of no member of their community'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
