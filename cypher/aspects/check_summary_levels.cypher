// Summaries whose members are not below them: level 1 is over chunks, the others over summaries.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (summary:Summary)-[:SUMMARIZES]->(member)
WHERE ($document = '' OR summary.document = $document)
  AND ($collection = '' OR summary.collection = $collection)
WITH DISTINCT summary, CASE
  WHEN member.document <> summary.document THEN 'summaries have members in another document'
  WHEN NOT member:Chunk|Summary THEN 'summaries have members that are neither chunk nor summary'
  WHEN member.level >= summary.level THEN 'summaries have members that are not below them'
  WHEN summary.level = 1 AND NOT member:Chunk THEN 'summaries of level 1 are not over chunks'
  WHEN summary.level > 1 AND NOT member:Summary
    THEN 'summaries above level 1 are not over summaries'
END AS what
WHERE what IS NOT NULL
RETURN summary.document AS document, min(summary.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
