// Creates a slice of imported nodes, unless the slice was created before.
// $collection  the collection
// $slice       the number of the slice
// $embedding   the property of the embeddings
// $rows        {labels, properties, embedding} of each
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'importing', slices: $slice})
SET space.slices = $slice + 1
WITH space
CALL () {
  UNWIND $rows AS row
  CREATE (n:$(row.labels))
  SET n = row.properties
  WITH n, row
  WHERE row.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, $embedding, row.embedding)
  RETURN count(*) AS embedded
}
RETURN embedded
