// Every place of some words in a collection, in context, in text order.
// No rows: no document has the words.
// :param collection => 'default';
//   the collection to stay in
// :param words => 'lamp';
//   the words, as printed but for case; parts of words are found, too
// :param document => '';
//   the id of a document; '' for all
// :param context => 60;
//   characters on each side
// :param until => 4611686018427387904;
//   how many characters of the document you have read
// :param limit => 100;
//   rows at most
CYPHER 25
MATCH (chunk:Passage&Chunk {collection: $collection})
WHERE $document IN ['', chunk.document] AND chunk.last <= $until AND $words <> ''
  AND toLower(chunk.text) CONTAINS toLower($words)
WITH chunk, split(toLower(chunk.text), toLower($words)) AS pieces, size($words) AS length
UNWIND range(0, size(pieces) - 2) AS number
WITH chunk, length,
  reduce(at = -length, piece IN pieces[0..number + 1] | at + length + size(piece)) AS at
MATCH (document:Document {id: chunk.document})
RETURN document.title AS document, chunk.section AS section,
  substring(chunk.text, CASE WHEN at > $context THEN at - $context ELSE 0 END,
    CASE WHEN at > $context THEN $context ELSE at END) AS left,
  substring(chunk.text, at, length) AS node,
  substring(chunk.text, at + length, $context) AS right,
  chunk.start + at AS start, chunk.id AS id
ORDER BY document, start, id
LIMIT $limit
