// Echoes: pairs of chunks far apart in a book that are most alike, each chunk in its closest pair.
// No rows: no such document, or it has no chunks so far apart; a smaller distance finds more.
// The vector index finds them: `fabula cypher` puts the collection's own in the place of
// passage_vectors_256. In Neo4j Browser do so yourself, where SHOW VECTOR INDEXES names another.
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
WITH CASE space.slot WHEN 2 THEN 'embedding_2' ELSE 'embedding' END AS embedding
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
CALL (embedding, document, chunk) {
  MATCH (other:Passage)
  SEARCH other IN (
    VECTOR INDEX passage_vectors_256 FOR chunk[embedding]
    WHERE other.collection = $collection AND other.document = document.id AND other.kind = 'chunk'
    // Fewer than twice the distance are too near, and so the closest far away is among these. 200
    // are enough beyond: a chunk's closest hardly ever are all in its own neighbourhood.
    LIMIT CASE WHEN $distance < 100 THEN 2 * $distance + 2 ELSE 200 END
  ) SCORE AS near
  WITH other, near
  WHERE abs(other.index - chunk.index) >= $distance
  ORDER BY near DESC, other.index
  LIMIT 1
  RETURN other, 2 * near - 1 AS cosine
}
WITH document, cosine, CASE WHEN chunk.index < other.index THEN chunk ELSE other END AS one,
  CASE WHEN chunk.index < other.index THEN other ELSE chunk END AS other
// The closest of each, and of equal ones the first.
ORDER BY cosine DESC, one.index, other.index
WITH document, one, collect({other: other, cosine: cosine})[0] AS pair
WITH document, one, pair.other AS other, pair.cosine AS cosine
ORDER BY cosine DESC, one.index
WITH document, other, collect({one: one, cosine: cosine})[0] AS pair
WITH document, pair.one AS one, other, pair.cosine AS cosine
RETURN document.title AS title, round(cosine, 3) AS cosine, one.section AS section,
  left(replace(one.text, '\n', ' '), 120) AS text, other.section AS other_section,
  left(replace(other.text, '\n', ' '), 120) AS other_text
ORDER BY cosine DESC, title, document.id, one.index, other.index
LIMIT $limit
