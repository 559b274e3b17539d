// Bridges between aspects: for each pair, the chunk that weighs most in both.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param aspect => '';
//   the name of an aspect; '' for all
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
MATCH (chunk)<-[edge:SUMMARIZES]-(summary:Summary {collection: $collection})
WITH document, chunk, summary.aspect AS aspect, max(edge.weight) AS weight
WITH document, chunk, collect({aspect: aspect, weight: weight}) AS ties
UNWIND ties AS one
UNWIND ties AS other
WITH document, chunk, one.aspect AS aspect, other.aspect AS other, size(ties) AS aspects,
  CASE WHEN one.weight < other.weight THEN one.weight ELSE other.weight END AS weight
WHERE aspect < other AND $aspect IN ['', aspect, other]
ORDER BY weight DESC, aspects, chunk.index
WITH document, aspect, other, count(*) AS chunks, head(collect(chunk)) AS bridge,
  max(weight) AS weight
RETURN document.title AS title, aspect, other, chunks, round(weight, 3) AS weight,
  bridge.section AS section, left(replace(bridge.text, '\n', ' '), 120) AS text, bridge.id AS id
ORDER BY title, document.id, aspect, other
LIMIT $limit
