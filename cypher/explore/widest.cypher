// Summaries with the widest span: how much of the book lies between their first and last word.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param level => 1;
//   the level of the summaries
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (summary:Passage&Summary {collection: $collection, document: document.id, level: $level})
CALL (document) {
  MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
  RETURN max(chunk.end) AS length
}
RETURN document.title AS title, summary.aspect AS aspect,
  round(100.0 * (summary.end - summary.start) / length, 1) AS percent,
  count { (summary)-[:SUMMARIZES]->(:Chunk|Summary {collection: $collection}) } AS members,
  summary.start AS start, summary.end AS end,
  left(replace(summary.text, '\n', ' '), 120) AS text, summary.id AS id
ORDER BY percent DESC, title, document.id, start, aspect, id
LIMIT $limit
