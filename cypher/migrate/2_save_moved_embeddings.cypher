// Replaces the embeddings by those that were being moved.
CYPHER 25
MATCH (passage:Chunk|Summary|Detail)
WHERE passage.next_embedding IS NOT NULL
CALL (passage) {
  CALL db.create.setNodeVectorProperty(passage, 'embedding', passage.next_embedding)
} IN TRANSACTIONS OF 1000 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
