// Summaries with a membership probability that is not above 0 and at most 1.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (summary:Summary)-[edge:SUMMARIZES]->()
WHERE ($document = '' OR summary.document = $document)
  AND ($collection = '' OR summary.collection = $collection)
  AND NOT coalesce(edge.weight > 0 AND edge.weight <= 1.000001, false)
WITH DISTINCT summary
RETURN summary.document AS document, min(summary.id) AS id, count(*) AS count,
  'summaries have members with a weight that is not in (0, 1]' AS what
ORDER BY document
LIMIT $limit
