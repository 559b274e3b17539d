// Passages and embedded elements of a document that have no embedding of the collection's next space
// yet.
// $collection, $document  the collection and the document's id
// $embedding, $next       the property that embeddings are in, and that the next ones are in
// $limit                  how many
CYPHER 25
CALL () {
  MATCH (n:Passage {document: $document}) RETURN n
  UNION ALL
  MATCH (n:Element {document: $document}) WHERE n[$embedding] IS NOT NULL RETURN n
}
WITH n
WHERE n.collection = $collection AND n[$next] IS NULL
RETURN n.id AS id, coalesce(n.embedded_text, n.text) AS text
ORDER BY id
LIMIT $limit
