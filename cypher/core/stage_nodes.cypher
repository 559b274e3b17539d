// Stages a batch of nodes without embeddings. Those with text get the label of the full-text index
// now, so that the index takes the batch in with this small transaction and not in the switch.
// $run   the name of the run
// $rows  {id, labels, index_labels, properties} of each
CYPHER 25
UNWIND $rows AS row
MERGE (n:Staged {run: $run, id: row.id})
SET n += row.properties, n.labels = row.labels, n:$(row.index_labels)
