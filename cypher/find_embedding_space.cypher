// The model and dimensions of the graph's embeddings, and how many documents hold any.
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
RETURN space.model AS model, space.dimensions AS dimensions, space.aspects AS aspects,
  COUNT { (:Document) } AS documents
