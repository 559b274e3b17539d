// Puts a collection's embeddings into its other slot as they are, where they are not there yet.
// $collection        its name
// $embedding, $next  the property that they are in, and that they are copied to
CYPHER 25
MATCH (passage:Passage)
WHERE passage.collection = $collection AND passage[$next] IS NULL
  AND passage[$embedding] IS NOT NULL AND passage.kind >= '' AND passage.document >= ''
CALL (passage) {
  CALL db.create.setNodeVectorProperty(passage, $next, passage[$embedding])
} IN TRANSACTIONS OF 1000 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
