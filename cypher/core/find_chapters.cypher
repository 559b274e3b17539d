// The sections of a collection's documents in text order, each with its length.
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $until                           how many characters of the document the reader has read
CYPHER 25
MATCH (chunk:Passage {collection: $collection, kind: 'chunk'})
  USING INDEX SEEK chunk:Passage(collection, kind, document)
WHERE chunk.document >= $first_document AND chunk.document <= $last_document
  AND chunk.end <= $until
WITH chunk.document AS id, chunk.section AS section, min(chunk.start) AS start,
  max(chunk.end) AS end, sum(chunk.tokens) AS tokens
MATCH (document:Document {id: id})
  USING INDEX SEEK document:Document(id)
RETURN id AS document, document.title AS title, section, start, end, tokens
ORDER BY title, document, start
