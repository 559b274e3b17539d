// Gives passages the labels that they are found by, their graph, a name and their sources.
// $label  the label of passages with so many dimensions
// $rows   {id, properties} of each
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (n:Chunk {id: row.id}) RETURN n
  UNION ALL
  MATCH (n:Summary {id: row.id}) RETURN n
  UNION ALL
  MATCH (n:Detail {id: row.id}) RETURN n
}
SET n:Passage:$($label), n += row.properties
