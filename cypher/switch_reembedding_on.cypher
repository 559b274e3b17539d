// Begins to re-embed the graph: from here on no document is switched in.
// $model, $dimensions  of the next embedding space
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
SET space.next_model = $model, space.next_dimensions = $dimensions, space.phase = 'writing'
