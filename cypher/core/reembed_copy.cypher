// Copies a collection's embeddings into its other slot, unless they are there already.
// $collection        its name
// $embedding, $next  the properties that they are in and are copied to
CYPHER 25
CALL () {
  MATCH (n:Passage)
  WHERE n.collection = $collection AND n[$next] IS NULL AND n[$embedding] IS NOT NULL
    AND n.kind >= '' AND n.document >= ''
  RETURN n
  UNION ALL
  MATCH (n:Element)
  WHERE n.collection = $collection AND n[$next] IS NULL AND n[$embedding] IS NOT NULL
    AND n.kind >= '' AND n.document >= ''
  RETURN n
}
CALL (n) {
  CALL db.create.setNodeVectorProperty(n, $next, n[$embedding])
} IN TRANSACTIONS OF 1000 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
