// Whom each part of a book is about: the communities that it names more than the whole book does.
// No rows: no such document or level, or it has no communities; `fabula build communities` makes them.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param level => 0;
//   of which level; 0 is the coarsest
// :param most => 3;
//   communities of a part at most
// :param parts => 10;
//   equal parts that the book is cut into
// :param limit => 100;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
ORDER BY chunk.index
WITH document, collect(chunk) AS chunks
MATCH (one:Element&Community {collection: $collection, document: document.id, level: $level})
CALL (one) {
  MATCH (one)-[:HAS_MEMBER]->(:Entity {collection: $collection})
    -[:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
  RETURN collect(DISTINCT chunk) AS named
}
UNWIND chunks AS chunk
WITH document, chunks, one, size(named) AS whole, chunk, chunk IN named AS has,
  chunk.index * $parts / size(chunks) AS part
WITH document, one, 100.0 * whole / size(chunks) AS usual, part, count(*) AS there,
  collect(chunk.section)[0] AS section, sum(CASE WHEN has THEN 1 ELSE 0 END) AS found
WITH document, one, usual, part, there, section, found, 100.0 * found / there AS share
WHERE found > 0 AND share >= usual
ORDER BY share - usual DESC, found DESC, one.id
WITH document, part, section, collect({
  one: one, usual: usual, there: there, found: found, share: share
})[..$most] AS first
UNWIND range(0, size(first) - 1) AS place
WITH document, part, section, place, first[place] AS row
OPTIONAL MATCH (report:Element&Report {collection: $collection})-[:REPORTS]->(one)
  WHERE one = row.one
RETURN document.title AS title, part + 1 AS part, section AS begins_in,
  coalesce(report.title, row.one.title) AS community, row.there AS chunks, row.found AS found,
  toInteger(round(row.share)) AS percent,
  toInteger(round(row.usual)) AS of_the_book
ORDER BY part, place
LIMIT $limit
