// Removes a collection's embeddings that are not in use.
// $collection  its name
// $former      the property that they are in
// $labels      the labels for their number of dimensions; [] if those in use have as many
CYPHER 25
CALL () {
  MATCH (n:Passage)
  WHERE n.collection = $collection AND n[$former] IS NOT NULL AND n.kind >= '' AND n.document >= ''
  RETURN n
  UNION ALL
  MATCH (n:Element)
  WHERE n.collection = $collection AND n[$former] IS NOT NULL AND n.kind >= '' AND n.document >= ''
  RETURN n
}
CALL (n) {
  SET n[$former] = null
  REMOVE n:$([label IN labels(n) WHERE label IN $labels])
} IN TRANSACTIONS OF 1000 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
