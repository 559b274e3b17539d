// Quotations that rest on no chunk, on others than their sources, or are not the text of these.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Quotation)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT {
  MATCH (n)-[:FROM_CHUNK]->(chunk:Chunk) WHERE chunk.document = n.document
  RETURN chunk ORDER BY chunk.start
} AS chunks
WITH n, CASE
  WHEN size(chunks) = 0 THEN 'quotations rest on no chunk'
  WHEN size(chunks) <> size(n.sources) OR NOT all(chunk IN chunks WHERE chunk.id IN n.sources)
    THEN 'quotations rest on other chunks than their sources'
  WHEN substring(reduce(text = '', chunk IN chunks | text + chunk.text),
    n.start - chunks[0].start, n.end - n.start) <> n.text
    THEN 'quotations are not the text of their chunks'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
