// Echoes: chunks far apart in a book that are most alike.
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param distance => 20;
//   the least number of chunks between them
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document)
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (one:Chunk {document: document.id})
MATCH (other:Chunk|Summary|Detail)
SEARCH other IN (
  VECTOR INDEX passage_vectors FOR one.embedding
  WHERE other.document = document.id AND other.kind = 'chunk'
  LIMIT 10
) SCORE AS score
WITH document, one, other, 2 * score - 1 AS cosine
WHERE other.index - one.index >= $distance
RETURN document.title AS title, round(cosine, 3) AS cosine, one.section AS section,
  left(replace(one.text, '\n', ' '), 120) AS text, other.section AS other_section,
  left(replace(other.text, '\n', ' '), 120) AS other_text
ORDER BY cosine DESC, title, one.index, other.index
LIMIT $limit
