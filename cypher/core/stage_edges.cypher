// Stages the edges between staged nodes. They are created, not merged: a MERGE with a type from a
// parameter reads all edges, and a batch that has to be sent again has left none.
// $run   the name of the run
// $rows  {type, start, end, properties} of each
CYPHER 25
UNWIND $rows AS row
MATCH (start:Staged {run: $run, id: row.start})
MATCH (end:Staged {run: $run, id: row.end})
CREATE (start)-[edge:$(row.type)]->(end)
SET edge += row.properties
