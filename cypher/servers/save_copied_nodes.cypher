// Creates a slice of copied nodes, unless the slice was created before; returns whether it was now.
// $collection  the collection
// $slice       the number of the slice
// $cursor      how far the collection is copied with it: phase, document, after
// $embedding   the property of the embeddings
// $rows        {labels, properties, embedding} of each
CYPHER 25
MATCH (copy:CollectionCopy {name: $collection, slice: $slice})
SET copy += $cursor, copy.slice = $slice + 1
WITH copy
CALL () {
  UNWIND $rows AS row
  CREATE (n:$(row.labels))
  SET n = row.properties
  WITH n, row
  WHERE row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, $embedding, row.embedding)
  RETURN count(*) AS embedded
}
RETURN count(copy) AS slices
