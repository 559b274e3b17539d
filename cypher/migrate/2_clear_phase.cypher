// Ends a re-embedding.
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
REMOVE space.next_model, space.next_dimensions, space.phase
