// The ids of the chunks of each document in text order, and the language of the document.
// $collection                      name of the collection
// $first_document, $last_document  the id of a document twice, or '' and the last character for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (n:Passage {collection: $collection, kind: 'chunk'})
WHERE n.document >= $first_document AND n.document <= $last_document AND n.last <= $until
WITH n.document AS id, n.last AS last, n.id AS chunk
ORDER BY id, last
WITH id, collect(chunk) AS chunks
MATCH (document:Document {id: id})
  USING INDEX SEEK document:Document(id)
RETURN document.language AS language, chunks
ORDER BY id
