// Passages of a document that have no embedding of the collection's next space yet.
// $collection, $document  the collection and the document's id
// $next                   the property that the next embeddings are in
// $limit                  how many
CYPHER 25
MATCH (passage:Passage {document: $document})
WHERE passage.collection = $collection AND passage[$next] IS NULL
RETURN passage.id AS id, passage.text AS text
ORDER BY id
LIMIT $limit
