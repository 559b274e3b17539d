// Says of summaries and details who wrote them, and in the names of extracts that they are extracts.
// $rows  {id, properties} of each
CYPHER 25
UNWIND $rows AS row
MATCH (n:Passage {id: row.id})
SET n += row.properties
