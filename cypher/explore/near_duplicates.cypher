// Details that say nearly the same: pairs of one document, the closest first.
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param similarity => 0.7;
//   the least cosine of a pair
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document)
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (one:Detail {document: document.id})
MATCH (other:Chunk|Summary|Detail)
SEARCH other IN (
  VECTOR INDEX passage_vectors FOR one.embedding
  WHERE other.document = document.id AND other.kind = 'detail'
  LIMIT 10
) SCORE AS score
WITH document, one, other, 2 * score - 1 AS cosine
WHERE one.id < other.id AND cosine >= $similarity
MATCH (one)-[:DETAILS]->(chunk:Chunk)
MATCH (other)-[:DETAILS]->(next:Chunk)
RETURN document.title AS title, round(cosine, 3) AS cosine, chunk.index AS chunk,
  one.text AS text, next.index AS other_chunk, other.text AS other_text
ORDER BY cosine DESC, title, one.id, other.id
LIMIT $limit
