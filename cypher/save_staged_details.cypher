// Stages details, tied to their staged chunks.
// $run   the name of this run
// $rows  {id, properties, embedding, chunk} of each
CYPHER 25
UNWIND $rows AS row
MERGE (detail:Staged {run: $run, id: row.id})
SET detail += row.properties
WITH detail, row
CALL db.create.setNodeVectorProperty(detail, 'embedding', row.embedding)
MATCH (chunk:Staged {run: $run, id: row.chunk})
MERGE (detail)-[:DETAILS]->(chunk)
