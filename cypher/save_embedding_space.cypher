// Records the model and dimensions of the graph's embeddings, where none are recorded yet.
// $model, $dimensions  of every embedding that will be in the graph
CYPHER 25
MERGE (space:EmbeddingSpace {id: 'graph'})
ON CREATE SET space.model = $model, space.dimensions = $dimensions, space.aspects = ['']
RETURN space.model AS model, space.dimensions AS dimensions, space.aspects AS aspects,
  coalesce(space.next_model, '') AS next_model,
  coalesce(space.next_dimensions, 0) AS next_dimensions, coalesce(space.phase, '') AS phase,
  COUNT { (:Document) } AS documents
