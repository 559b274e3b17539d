// Stages the edges between staged nodes: created, as a MERGE of a type that is a value looks at all
// edges, and a batch that is sent again has left none.
// $run   the name of the run
// $rows  {type, start, end, properties} of each
CYPHER 25
UNWIND $rows AS row
MATCH (start:Staged {run: $run, id: row.start})
MATCH (end:Staged {run: $run, id: row.end})
CREATE (start)-[edge:$(row.type)]->(end)
SET edge += row.properties
