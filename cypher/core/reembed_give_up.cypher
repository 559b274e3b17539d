// Leaves what was written of a collection's next space to be cleared.
// $collection  its name
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'writing'})
SET space.former_dimensions = space.next_dimensions, space.phase = 'clearing'
