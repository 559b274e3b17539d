// Ends the re-embedding: documents are switched in again.
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
REMOVE space.next_model, space.next_dimensions, space.phase
