// Keeps embeddings of a collection's next space beside those in use, where no reader sees them.
// Only while the collection is on its way into that space.
// $collection, $model  its name, and the model of the next space
// $next   the property that the next embeddings are in
// $label  the label of what has so many dimensions
// $rows   {id, embedding} of each passage
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'writing', next_model: $model})
UNWIND $rows AS row
MATCH (passage:Passage {id: row.id})
WHERE passage.collection = space.name
SET passage:$($label)
WITH passage, row
CALL db.create.setNodeVectorProperty(passage, $next, row.embedding)
