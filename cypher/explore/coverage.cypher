// How much of a book each aspect tells: the chunks that its summaries reach.
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
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (summary:Passage&Summary {collection: $collection, document: document.id})
WHERE $aspect IN ['', summary.aspect]
MATCH (summary)
  ((:Summary)-[:SUMMARIZES]->(:Chunk|Summary {collection: $collection})){1,9} (chunk:Chunk)
WITH document, summary.aspect AS aspect, max(summary.level) AS levels,
  count(DISTINCT summary) AS summaries, count(DISTINCT chunk) AS chunks
RETURN document.title AS title, aspect, levels, summaries, chunks,
  round(100.0 * chunks /
    count { (document)<-[:FROM_DOCUMENT]-(:Chunk {collection: $collection}) }, 1) AS percent
ORDER BY title, document.id, percent DESC, aspect
LIMIT $limit
