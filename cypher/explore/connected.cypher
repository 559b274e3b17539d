// The most connected chunks: those in most summaries.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
MATCH (chunk)<-[edge:SUMMARIZES]-(summary:Summary {collection: $collection})
WITH document, chunk, count(*) AS summaries, sum(edge.weight) AS weight,
  collect(DISTINCT summary.aspect) AS aspects
RETURN document.title AS title, chunk.section AS section, chunk.index AS index, summaries,
  round(weight, 2) AS weight, size(aspects) AS aspects,
  left(replace(chunk.text, '\n', ' '), 120) AS text, chunk.id AS id
ORDER BY summaries DESC, weight DESC, title, index, id
LIMIT $limit
