// Gives up a collection's next space; what was written of it is left to be cleared.
// $collection  its name
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'writing'})
SET space.former_dimensions = space.next_dimensions, space.phase = 'clearing'
