// The one embedding space of the first schema, and the phase of its re-embedding.
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
RETURN space.dimensions AS dimensions, coalesce(space.phase, '') AS phase,
  coalesce(space.next_model, '') AS next_model
