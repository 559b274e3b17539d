// Gives documents the folded names by which they are found.
// $rows  {id, properties} of each
CYPHER 25
UNWIND $rows AS row
MATCH (n:Document {id: row.id})
SET n += row.properties
