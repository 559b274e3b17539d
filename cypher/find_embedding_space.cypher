// The model and dimensions of the graph's embeddings, and how many documents hold any.
// While they are re-embedded: the next ones too, and the phase, writing, moving or clearing.
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
RETURN space.model AS model, space.dimensions AS dimensions, space.aspects AS aspects,
  coalesce(space.next_model, '') AS next_model,
  coalesce(space.next_dimensions, 0) AS next_dimensions, coalesce(space.phase, '') AS phase,
  COUNT { (:Document) } AS documents
