// Echoes: pairs of chunks far apart in a book that are most alike, each chunk in its closest pair.
// No rows: no such document, or it has no chunks so far apart; a smaller distance finds more.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param distance => 20;
//   the least number of chunks between them
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (space:Collection {name: $collection})
WITH space, CASE space.slot WHEN 2 THEN 'embedding_2' ELSE 'embedding' END AS embedding
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WITH document, chunk, vector(chunk[embedding], space.dimensions, FLOAT32) AS vector
ORDER BY chunk.index
WITH document, collect(chunk) AS chunks, collect(vector) AS vectors
UNWIND range(0, size(chunks) - 1) AS at
UNWIND range(at + $distance, size(chunks) - 1) AS later
WITH document, chunks, at, later,
  1 - vector_distance(vectors[at], vectors[later], COSINE) AS cosine
// The closest of each, and of equal ones the first: no list of all pairs is kept or sorted.
WITH document, chunks, at, max([cosine, -later]) AS best
WITH document, chunks, -best[1] AS later, max([best[0], -at]) AS best
WITH document, chunks[-best[1]] AS one, chunks[later] AS other, -best[1] AS at, later,
  best[0] AS cosine
RETURN document.title AS title, round(cosine, 3) AS cosine, one.section AS section,
  left(replace(one.text, '\n', ' '), 120) AS text, other.section AS other_section,
  left(replace(other.text, '\n', ' '), 120) AS other_text
ORDER BY cosine DESC, title, document.id, at, later
LIMIT $limit
