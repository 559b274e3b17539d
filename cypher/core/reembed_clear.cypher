// Removes a collection's embeddings that are not in use.
// $collection  its name
// $former      the property that they are in
// $label       the label of what has so many dimensions; '' where the others have as many
CYPHER 25
MATCH (passage:Passage)
WHERE passage.collection = $collection AND passage[$former] IS NOT NULL
  AND passage.kind >= '' AND passage.document >= ''
CALL (passage) {
  SET passage[$former] = null
  REMOVE passage:$([label IN labels(passage) WHERE label = $label])
} IN TRANSACTIONS OF 1000 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
