// Which aspects each section has: how many of its chunks a summary of the aspect covers.
// No rows: no such document, or it has no summaries;
// `fabula ingest` makes them, unless --levels is 0 or --graphs leaves them out.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param limit => 100;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WITH document, chunk.section AS section, collect(chunk) AS chunks, min(chunk.index) AS place
CALL (chunks) {
  UNWIND chunks AS chunk
  MATCH (chunk)<-[:SUMMARIZES]-(summary:Summary {collection: $collection})
  RETURN summary.aspect AS aspect, count(DISTINCT chunk) AS covered
}
RETURN document.title AS title,
  CASE section WHEN '' THEN '(no heading)' ELSE section END AS section, aspect,
  size(chunks) AS chunks, covered,
  100 * covered / size(chunks) AS percent,
  reduce(bar = '', step IN range(1, 20 * covered / size(chunks)) | bar + '#') AS bar
ORDER BY place, covered DESC, aspect
LIMIT $limit
