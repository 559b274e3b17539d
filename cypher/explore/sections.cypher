// The longest sections, or the shortest, with their share of the book.
// No rows: no such document, or nothing is in the collection yet; `fabula ingest` fills it.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param shortest => false;
//   true for the shortest first
// :param limit => 20;
//   rows at most
// :param until => 4611686018427387904;
//   how many characters the reader has read, or a place as 'Stave Two'; the default is all
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WHERE chunk.last <= $until
WITH document, chunk.section AS section, count(*) AS chunks, sum(chunk.tokens) AS tokens,
  min(chunk.start) AS start, max(chunk.end) AS end
WITH document, sum(tokens) AS total,
  collect({name: section, chunks: chunks, tokens: tokens, start: start, end: end}) AS sections
UNWIND sections AS section
RETURN document.title AS title,
  CASE section.name WHEN '' THEN '(no heading)' ELSE section.name END AS section,
  section.chunks AS chunks, section.tokens AS tokens, round(100.0 * section.tokens / total, 1) AS percent,
  section.start AS start, section.end AS end
ORDER BY CASE WHEN $shortest THEN tokens ELSE -tokens END, title, document.id, start
LIMIT $limit
