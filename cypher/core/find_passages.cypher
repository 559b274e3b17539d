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
RETURN n {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit
ORDER BY n.id
