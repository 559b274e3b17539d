// The text itself, chunk by chunk from some place on.
// No rows: no such document, or its last chunk is before the first that was asked for.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param first => 0;
//   the chunk to begin with, by its number in the book
// :param limit => 5;
//   rows at most
// :param until => 4611686018427387904;
//   how many characters the reader has read, or a place as 'Stave Two'; the default is all
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WHERE chunk.index >= $first AND chunk.last <= $until
RETURN document.title AS title, chunk.section AS section, chunk.index AS index,
  trim(chunk.text) AS text
ORDER BY index
LIMIT $limit
