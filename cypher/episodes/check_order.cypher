// Episodes that are part of several, that overlap another of their level, or that follow no other.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Episode)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN COUNT { (n)<-[:COMPRISES]-() } > 1 THEN 'episodes are part of more than one other'
  WHEN COUNT { (n)-[:NEXT_EPISODE]->() } > 1 THEN 'episodes have more than one after them'
  WHEN EXISTS {
    MATCH (n)-[:NEXT_EPISODE]->(after) WHERE after.start < n.end OR after.document <> n.document
  } THEN 'episodes are followed by one that begins before their end'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
