// Summaries over summaries of another aspect: each aspect has a tree of its own.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (summary:Summary)-[:SUMMARIZES]->(member:Summary)
WHERE ($document = '' OR summary.document = $document)
  AND ($collection = '' OR summary.collection = $collection)
  AND member.aspect <> summary.aspect
WITH DISTINCT summary
RETURN summary.document AS document, min(summary.id) AS id, count(*) AS count,
  'summaries have members of another aspect' AS what
ORDER BY document
LIMIT $limit
