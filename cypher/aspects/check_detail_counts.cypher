// Chunks with more details than their document was built with, or with two of the same ordinal.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (part:Part {graph: 'aspects'})
WHERE ($document = '' OR part.document = $document)
  AND ($collection = '' OR part.collection = $collection)
MATCH (detail:Passage {document: part.document})-[:DETAILS]->(chunk:Chunk)
WHERE detail.collection = part.collection AND chunk.collection = part.collection
WITH part, chunk, count(*) AS details, count(DISTINCT detail.ordinal) AS different
WITH part, chunk, CASE
  WHEN details > part.details THEN 'chunks have more than ' + part.details + ' details'
  WHEN different < details THEN 'chunks have two details with the same ordinal'
END AS what
WHERE what IS NOT NULL
RETURN part.document AS document, min(chunk.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
