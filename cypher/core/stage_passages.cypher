// Stages nodes with embeddings, where no index and no reader sees them.
// $run       the name of the run
// $embedding the property that the collection's embeddings are in
// $rows      {id, labels, properties, embedding} of each
CYPHER 25
UNWIND $rows AS row
MERGE (n:Staged {run: $run, id: row.id})
SET n += row.properties, n.labels = row.labels
WITH n, row
CALL db.create.setNodeVectorProperty(n, $embedding, row.embedding)
