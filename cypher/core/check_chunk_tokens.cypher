// Documents that have another number of tokens than their chunks: some are missing or duplicated.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (chunk:Chunk)
WHERE ($document = '' OR chunk.document = $document)
  AND ($collection = '' OR chunk.collection = $collection)
WITH chunk.document AS document, sum(chunk.tokens) AS tokens
MATCH (owner:Document {id: document})
WHERE owner.tokens <> tokens
RETURN document, document AS id, 1 AS count,
  'its chunks have ' + tokens + ' tokens of ' + owner.tokens AS what
ORDER BY document
LIMIT $limit
