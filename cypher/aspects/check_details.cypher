// Details without exactly one edge to a chunk, or with one to another document's chunk.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (detail:Detail)
WHERE ($document = '' OR detail.document = $document)
  AND ($collection = '' OR detail.collection = $collection)
OPTIONAL MATCH (detail)-[:DETAILS]->(chunk)
WITH detail, count(chunk) AS chunks,
  count(CASE WHEN chunk:Chunk AND chunk.document = detail.document THEN 1 END) AS own
WHERE chunks <> 1 OR own <> 1
RETURN detail.document AS document, min(detail.id) AS id, count(*) AS count,
  'details do not belong to one chunk of their document' AS what
ORDER BY document
LIMIT $limit
