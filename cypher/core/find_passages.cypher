// Passages, and elements that can be cited, by their ids.
// $collection  the collection to stay in
// $ids         their ids
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Passage {id: id}) RETURN n
  UNION ALL
  MATCH (n:Element {id: id}) WHERE n.tokens IS NOT NULL RETURN n
}
WITH n
WHERE n.collection = $collection
MATCH (document:Document {id: n.document})
  USING INDEX SEEK document:Document(id)
RETURN n.id AS id, n.kind AS kind, n.document AS document,
  document.title AS title, document.language AS language, n.section AS section,
  n.aspect AS aspect, n.level AS level, n.start AS start, n.end AS end,
  n.text AS text, n.tokens AS tokens, 0.0 AS score
ORDER BY id
