// Summaries that summarise nothing, or nothing that leads down to a chunk.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (summary:Summary)
WHERE ($document = '' OR summary.document = $document)
  AND ($collection = '' OR summary.collection = $collection)
WITH summary, CASE
  WHEN NOT EXISTS { (summary)-[:SUMMARIZES]->() } THEN 'summaries have no members'
  WHEN NOT EXISTS { (summary)-[:SUMMARIZES]->+(:Chunk) } THEN 'summaries reach no chunk'
END AS what
WHERE what IS NOT NULL
RETURN summary.document AS document, min(summary.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
