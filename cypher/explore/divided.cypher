// Chunks that belong to several clusters at once: where one matter passes into another.
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
WITH document, chunk, summary.aspect AS aspect, collect(edge.weight) AS weights
WHERE size(weights) > 1
WITH document, chunk, aspect, weights, reduce(most = 0.0, one IN weights |
  CASE WHEN one > most THEN one ELSE most END) AS most
ORDER BY aspect
WITH document, chunk, collect(aspect) AS aspects, max(size(weights)) AS clusters,
  min(most) AS most
RETURN document.title AS title, chunk.section AS section, chunk.index AS index, clusters,
  round(most, 3) AS strongest, aspects,
  left(replace(chunk.text, '\n', ' '), 120) AS text, chunk.id AS id
ORDER BY strongest, title, document.id, index
LIMIT $limit
