// Where the text turns: neighbouring chunks of one section that are least alike.
// No rows: no such document, or none of its sections has two chunks.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 20;
//   rows at most
// :param until => 4611686018427387904;
//   how many characters the reader has read, or a place as 'Stave Two'; the default is all
CYPHER 25
MATCH (space:Collection {name: $collection})
WITH CASE space.slot WHEN 2 THEN 'embedding_2' ELSE 'embedding' END AS embedding
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
MATCH (chunk)-[:NEXT_CHUNK]->(next:Chunk {collection: $collection})
WHERE chunk.section = next.section AND next.last <= $until
WITH document, chunk, next,
  2 * vector.similarity.cosine(chunk[embedding], next[embedding]) - 1 AS cosine
RETURN document.title AS title, chunk.section AS section, chunk.index AS index,
  round(cosine, 3) AS cosine, right(replace(chunk.text, '\n', ' '), 100) AS before,
  left(replace(next.text, '\n', ' '), 100) AS after
ORDER BY cosine, title, document.id, index
LIMIT $limit
