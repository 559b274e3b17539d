// Stages nodes without embeddings, where no index and no reader sees them.
// $run   the name of the run
// $rows  {id, labels, properties} of each
CYPHER 25
UNWIND $rows AS row
MERGE (n:Staged {run: $run, id: row.id})
SET n += row.properties, n.labels = row.labels
