// Details that say nearly the same: pairs of one document, each detail in its closest pair.
// No rows: no such document, or no two of its details are so close; a lower similarity finds
// more. Details: `fabula ingest` makes them, unless --details is 0.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param similarity => 0.7;
//   the least cosine of a pair
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (space:Collection {name: $collection})
WITH space, CASE space.slot WHEN 2 THEN 'embedding_2' ELSE 'embedding' END AS embedding
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (detail:Passage&Detail {collection: $collection, document: document.id})
MATCH (detail)-[:DETAILS]->(chunk:Chunk {collection: $collection})
WITH document, {text: detail.text, id: detail.id, chunk: chunk.index} AS told,
  vector(detail[embedding], space.dimensions, FLOAT32) AS vector
ORDER BY chunk.index, detail.ordinal
WITH document, collect(told) AS details, collect(vector) AS vectors
UNWIND range(0, size(details) - 1) AS at
UNWIND range(at + 1, size(details) - 1) AS later
WITH document, details, at, later,
  1 - vector_distance(vectors[at], vectors[later], COSINE) AS cosine
WHERE cosine >= $similarity
WITH document, details, at, max([cosine, -later]) AS best
WITH document, details, -best[1] AS later, max([best[0], -at]) AS best
WITH document, details[-best[1]] AS one, details[later] AS other, best[0] AS cosine
RETURN document.title AS title, round(cosine, 3) AS cosine, one.chunk AS chunk,
  one.text AS text, other.chunk AS other_chunk, other.text AS other_text
ORDER BY cosine DESC, title, one.id, other.id
LIMIT $limit
