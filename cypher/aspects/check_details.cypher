// Details that are not tied to exactly one chunk, one of their own document.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
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
