// Saves embeddings of a collection's next space beside those in use, where no reader sees them.
// It does so only while the collection is being moved into that space.
// $collection, $model  its name, and the model of the next space
// $next           the property that the next embeddings are in
// $label          the label of passages with so many dimensions
// $element_label  the label of elements with so many dimensions
// $rows           {id, embedding} of each
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'writing', next_model: $model})
UNWIND $rows AS row
CALL (row) {
  MATCH (n:Passage {id: row.id}) RETURN n, $label AS label
  UNION ALL
  MATCH (n:Element {id: row.id}) RETURN n, $element_label AS label
}
WITH space, row, n, label
WHERE n.collection = space.name
SET n:$(label)
WITH n, row
CALL db.create.setNodeVectorProperty(n, $next, row.embedding)
