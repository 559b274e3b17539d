// The passages of a document with the beginnings of their texts and the passages below them, which come
// first.
// $document    its id
// $characters  how much of a text is enough for a name
CYPHER 25
CALL () {
  MATCH (n:Chunk {document: $document}) RETURN n
  UNION ALL
  MATCH (n:Summary {document: $document}) RETURN n
  UNION ALL
  MATCH (n:Detail {document: $document}) RETURN n
}
RETURN n.id AS id, n.kind AS kind, n.aspect AS aspect, n.level AS level, n.index AS index,
  n.tokens AS tokens, left(n.text, $characters) AS text,
  COLLECT { MATCH (n)-[:SUMMARIZES|DETAILS]->(below) RETURN below.id } AS below
ORDER BY CASE kind WHEN 'chunk' THEN 0 ELSE 1 END, level, id
