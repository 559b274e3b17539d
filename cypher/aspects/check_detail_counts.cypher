// Chunks with more details than their document was built with, or two of the same number.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (part:Part {graph: 'aspects'})
WHERE ($document = '' OR part.document = $document)
  AND ($collection = '' OR part.collection = $collection)
MATCH (detail:Passage {document: part.document})-[:DETAILS]->(chunk:Chunk)
WHERE detail.collection = part.collection AND chunk.collection = part.collection
WITH part, chunk, count(*) AS details, count(DISTINCT detail.ordinal) AS different
WITH part, chunk, CASE
  WHEN details > part.details THEN 'chunks have more than ' + part.details + ' details'
  WHEN different < details THEN 'chunks have two details of one number'
END AS what
WHERE what IS NOT NULL
RETURN part.document AS document, min(chunk.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
