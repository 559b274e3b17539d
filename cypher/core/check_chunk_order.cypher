// Documents whose chunks are not numbered from 0 without a gap or a duplicate.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (chunk:Chunk)
WHERE ($document = '' OR chunk.document = $document)
  AND ($collection = '' OR chunk.collection = $collection)
WITH chunk.document AS document, count(*) AS chunks, count(DISTINCT chunk.index) AS different,
  min(chunk.index) AS first, max(chunk.index) AS last
WHERE different <> chunks OR first <> 0 OR last <> chunks - 1
RETURN document, document AS id, 1 AS count, 'its chunks are not numbered 0, 1, 2 …' AS what
ORDER BY document
LIMIT $limit
