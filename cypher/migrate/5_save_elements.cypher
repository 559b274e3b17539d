// Gives elements the words by which they are found.
// $rows  {id, properties} of each
CYPHER 25
UNWIND $rows AS row
MATCH (n:Element {id: row.id})
SET n += row.properties
