// A collection's embedding space, and whether it has documents. They are not counted, which takes
// longer the more there are.
// $collection  its name
CYPHER 25
MATCH (space:Collection {name: $collection})
RETURN space.name AS collection, space.model AS model, space.dimensions AS dimensions,
  space.slot AS slot, space.aspects AS aspects, space.kinds AS kinds,
  coalesce(space.element_kinds, []) AS element_kinds,
  coalesce(space.next_model, '') AS next_model,
  coalesce(space.next_dimensions, 0) AS next_dimensions,
  coalesce(space.former_dimensions, 0) AS former_dimensions, coalesce(space.phase, '') AS phase,
  coalesce(space.has_off, false) AS has_off,
  EXISTS {
    MATCH (one:Document)
    WHERE one.collection = $collection AND one.title_key >= '' AND one.id >= ''
  } AS has_documents
