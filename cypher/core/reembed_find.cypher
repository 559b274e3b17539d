// Passages and embedded elements of a document that have no embedding of the collection's next space
// yet.
// $collection, $document  the collection and the document's id
// $embedding, $next       the properties of the embeddings in use and of the next ones
// $limit                  how many
CYPHER 25
CALL () {
  WITH $document AS document WHERE document <> ''
  MATCH (n:Passage {document: document}) RETURN n
  UNION ALL
  WITH $document AS document WHERE document <> ''
  MATCH (n:Element {document: document}) WHERE n[$embedding] IS NOT NULL RETURN n
  UNION ALL
  // What belongs to a collection itself is found by the collection, as all others' has no document.
  WITH $document AS document WHERE document = ''
  MATCH (n:Passage) WHERE n.collection = $collection AND n.kind >= '' AND n.document = document
  RETURN n
  UNION ALL
  WITH $document AS document WHERE document = ''
  MATCH (n:Element) WHERE n.collection = $collection AND n.kind >= '' AND n.document = document
    AND n[$embedding] IS NOT NULL
  RETURN n
}
WITH n
WHERE n.collection = $collection AND n[$next] IS NULL
RETURN n.id AS id, coalesce(n.embedded_text, n.text) AS text
ORDER BY id
LIMIT $limit
