// Switches a collection to its next space: from now on questions are answered in it.
// It does so only if the space is still as the run that asks for it has left it.
// $collection          its name
// $slot                the slot that is in use
// $model, $dimensions  of the next space
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'writing', slot: $slot,
  next_model: $model, next_dimensions: $dimensions})
SET space.model = space.next_model, space.former_dimensions = space.dimensions,
  space.dimensions = space.next_dimensions, space.slot = 3 - space.slot, space.phase = 'clearing'
RETURN count(space) AS flipped
