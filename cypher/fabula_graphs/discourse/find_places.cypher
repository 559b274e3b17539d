// The ids of the chunks of each document in text order, and its language.
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (n:Passage {collection: $collection, kind: 'chunk'})
WHERE n.document >= $first_document AND n.document <= $last_document AND n.last <= $until
WITH n.document AS id, n.index AS index, n.id AS chunk
ORDER BY id, index
WITH id, collect(chunk) AS chunks
MATCH (document:Document {id: id})
  USING INDEX SEEK document:Document(id)
RETURN document.language AS language, chunks
ORDER BY id
