// Saves embeddings of passages and elements in the space that their collection has, as far as they
// are there still and the collection has not been given another space.
// $collection, $model  its name, and the model of its embeddings
// $embedding      the property of the embeddings in use
// $label          the label of passages with so many dimensions
// $element_label  the label of elements with so many dimensions
// $rows           {id, embedding} of each
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model})
WHERE space.phase IS NULL
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
CALL db.create.setNodeVectorProperty(n, $embedding, row.embedding)
