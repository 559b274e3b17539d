// Keeps embeddings of a collection's next space beside those in use, where no reader sees them.
// $next   the property that the next embeddings are in
// $label  the label of what has so many dimensions
// $rows   {id, embedding} of each passage
CYPHER 25
UNWIND $rows AS row
MATCH (passage:Passage {id: row.id})
SET passage:$($label)
WITH passage, row
CALL db.create.setNodeVectorProperty(passage, $next, row.embedding)
