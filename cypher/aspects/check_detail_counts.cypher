// Chunks with more details than their document was built with, or two of the same number.
// $rows   {document, details}: a document's id, and the most details of one chunk
// $limit  how many findings to return
CYPHER 25
UNWIND $rows AS row
MATCH (detail:Detail {document: row.document})-[:DETAILS]->(chunk:Chunk)
WITH row, chunk, count(*) AS details, count(DISTINCT detail.ordinal) AS different
WITH row, chunk, CASE
  WHEN details > row.details THEN 'chunks have more than ' + row.details + ' details'
  WHEN different < details THEN 'chunks have two details of one number'
END AS what
WHERE what IS NOT NULL
RETURN row.document AS document, min(chunk.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
