// Stages a batch of nodes with embeddings. They get the labels of the vector and the full-text index
// now, so that the indexes take the batch in with this small transaction and not in the switch.
// Retrieval leaves them out: it asks for Passage or Element, labels that only the switch sets.
// $run       the name of the run
// $embedding the property of the collection's embeddings
// $rows      {id, labels, index_labels, properties, embedding} of each
CYPHER 25
UNWIND $rows AS row
MERGE (n:Staged {run: $run, id: row.id})
SET n += row.properties, n.labels = row.labels
WITH n, row
CALL db.create.setNodeVectorProperty(n, $embedding, row.embedding)
SET n:$(row.index_labels)
