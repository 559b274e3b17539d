// Stages the edges between staged nodes. (A MERGE of a type that is a value looks at all edges.)
// $run   the name of the run
// $rows  {type, start, end, properties} of each
CYPHER 25
UNWIND $rows AS row
MATCH (start:Staged {run: $run, id: row.start})
MATCH (end:Staged {run: $run, id: row.end})
WHERE NOT EXISTS { MATCH (start)-[there]->(end) WHERE type(there) = row.type }
CREATE (start)-[edge:$(row.type)]->(end)
SET edge += row.properties
