// Ends the re-embedding of a collection: documents are switched in again.
// $collection  its name
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'clearing'})
REMOVE space.next_model, space.next_dimensions, space.former_dimensions, space.phase
