// Makes a collection's next space its space: from here on questions are asked in it.
// $collection  its name
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'writing'})
SET space.model = space.next_model, space.former_dimensions = space.dimensions,
  space.dimensions = space.next_dimensions, space.slot = 3 - space.slot, space.phase = 'clearing'
