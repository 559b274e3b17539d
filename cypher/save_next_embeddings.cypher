// Keeps embeddings of the next space beside those in use, where no reader sees them.
// $rows  {id, embedding} of each passage
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (passage:Chunk {id: row.id}) RETURN passage
  UNION ALL
  MATCH (passage:Summary {id: row.id}) RETURN passage
  UNION ALL
  MATCH (passage:Detail {id: row.id}) RETURN passage
}
CALL db.create.setNodeVectorProperty(passage, 'next_embedding', row.embedding)
