// Which aspects are told by the same chunks: the pairs that share most.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (summary:Passage&Summary {collection: $collection, document: document.id, level: 1})
MATCH (summary)-[:SUMMARIZES]->(chunk:Chunk {collection: $collection})
WITH document, chunk, collect(DISTINCT summary.aspect) AS aspects
UNWIND aspects AS one
UNWIND aspects AS other
WITH document, one, other, count(*) AS shared
WITH document, collect({one: one, other: other, shared: shared}) AS pairs
UNWIND pairs AS pair
WITH document, pair.one AS aspect, pair.other AS other, pair.shared AS shared,
  head([own IN pairs WHERE own.one = pair.one AND own.other = pair.one]).shared AS chunks,
  head([own IN pairs WHERE own.one = pair.other AND own.other = pair.other]).shared AS others
WHERE aspect < other
RETURN document.title AS title, aspect, other, shared, chunks, others,
  round(100.0 * shared / (chunks + others - shared), 1) AS percent
ORDER BY percent DESC, title, document.id, aspect, other
LIMIT $limit
