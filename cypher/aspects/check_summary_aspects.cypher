// Summaries over summaries of another aspect: each aspect has a tree of its own.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
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
