// Adds edges from staged nodes to chunks that are there, where they are too many for the switch. No
// reader sees them: what leads to a chunk is asked for with the label of its start.
// $run         the name of the run
// $collection  the collection of the chunks
// $rows        {type, start, end, properties} of each edge
CYPHER 25
UNWIND $rows AS row
MATCH (start:Staged {run: $run, id: row.start})
MATCH (end:Passage {id: row.end})
WHERE end.collection = $collection
CREATE (start)-[edge:$(row.type)]->(end)
SET edge += row.properties
RETURN count(edge) AS edges
