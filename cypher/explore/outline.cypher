// The outline of a book: the summaries of each aspect from the top level down, in text order.
// No rows: no such document or aspect, or it has no summaries;
// `fabula ingest` makes them, unless --levels is 0 or --graphs leaves them out.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param aspect => '';
//   the name of an aspect; '' for all
// :param limit => 50;
//   rows at most
// :param until => 4611686018427387904;
//   how many characters the reader has read, or a place as 'Stave Two'; the default is all
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (summary:Passage&Summary {collection: $collection, document: document.id})
WHERE $aspect IN ['', summary.aspect] AND summary.last <= $until
RETURN document.title AS title, summary.aspect AS aspect, summary.level AS level,
  summary.section AS section,
  count { (summary)-[:SUMMARIZES]->(:Chunk|Summary {collection: $collection}) } AS members,
  left(replace(summary.text, '\n', ' '), 160) AS text, summary.id AS id
ORDER BY title, document.id, aspect, level DESC, summary.start, id
LIMIT $limit
