// Gives passages the words by which they are found.
// $rows  {id, properties} of each
CYPHER 25
UNWIND $rows AS row
MATCH (n:Passage {id: row.id})
SET n += row.properties
