// Details that say nearly the same: pairs of one document, each detail in its closest pair.
// No rows: no such document, or no two of its details are so close; a lower similarity finds
// more. Details: `fabula ingest` makes them, unless --details is 0.
// The vector index finds them: `fabula cypher` puts the collection's own in the place of
// passage_vectors_256. In Neo4j Browser do so yourself, where SHOW VECTOR INDEXES names another.
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
WITH CASE space.slot WHEN 2 THEN 'embedding_2' ELSE 'embedding' END AS embedding
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (detail:Passage&Detail {collection: $collection, document: document.id})
CALL (embedding, document, detail) {
  MATCH (other:Passage)
  SEARCH other IN (
    VECTOR INDEX passage_vectors_256 FOR detail[embedding]
    WHERE other.collection = $collection AND other.document = document.id AND other.kind = 'detail'
    // Itself and its closest. On a book of 8,695 details all those of a cosine above 0.67 were found.
    LIMIT 2
  ) SCORE AS near
  WITH other, near
  WHERE other <> detail AND 2 * near - 1 >= $similarity
  ORDER BY near DESC, other.start, other.ordinal
  LIMIT 1
  RETURN other, 2 * near - 1 AS cosine
}
WITH document, cosine, other,
  detail, detail.start < other.start OR detail.start = other.start AND detail.ordinal < other.ordinal
    AS is_first
WITH document, cosine, CASE WHEN is_first THEN detail ELSE other END AS one,
  CASE WHEN is_first THEN other ELSE detail END AS other
// The closest of each, and of equal ones the first.
ORDER BY cosine DESC, one.start, one.ordinal, other.start, other.ordinal
WITH document, one, collect({other: other, cosine: cosine})[0] AS pair
WITH document, one, pair.other AS other, pair.cosine AS cosine
ORDER BY cosine DESC, one.start, one.ordinal
WITH document, other, collect({one: one, cosine: cosine})[0] AS pair
WITH document, pair.one AS one, other, pair.cosine AS cosine
ORDER BY cosine DESC, document.title, one.id, other.id
LIMIT $limit
MATCH (one)-[:DETAILS]->(chunk:Chunk {collection: $collection})
MATCH (other)-[:DETAILS]->(other_chunk:Chunk {collection: $collection})
RETURN document.title AS title, round(cosine, 3) AS cosine, chunk.index AS chunk,
  one.text AS text, other_chunk.index AS other_chunk, other.text AS other_text
ORDER BY cosine DESC, title, one.id, other.id
LIMIT $limit
