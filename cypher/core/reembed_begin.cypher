// Begins to re-embed a collection: from now on none of its documents is switched in.
// $collection          its name
// $model, $dimensions  of its next embedding space
CYPHER 25
MATCH (space:Collection {name: $collection})
WHERE space.phase IS NULL
SET space.next_model = $model, space.next_dimensions = $dimensions, space.phase = 'writing'
