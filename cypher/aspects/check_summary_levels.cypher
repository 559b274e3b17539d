// Summaries with a member on the wrong level: level 1 summarises chunks, higher ones summaries.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (summary:Summary)-[:SUMMARIZES]->(member)
WHERE ($document = '' OR summary.document = $document)
  AND ($collection = '' OR summary.collection = $collection)
WITH DISTINCT summary, CASE
  WHEN member.document <> summary.document THEN 'summaries have members in another document'
  WHEN NOT member:Chunk|Summary THEN 'summaries have members that are neither chunk nor summary'
  WHEN member.level >= summary.level THEN 'summaries have members that are not below them'
  WHEN summary.level = 1 AND NOT member:Chunk
    THEN 'summaries of level 1 have members that are not chunks'
  WHEN summary.level > 1 AND NOT member:Summary
    THEN 'summaries above level 1 have members that are not summaries'
END AS what
WHERE what IS NOT NULL
RETURN summary.document AS document, min(summary.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
