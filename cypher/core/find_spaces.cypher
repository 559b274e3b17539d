// The embedding spaces of all collections, and whether each has documents.
CYPHER 25
MATCH (space:Collection)
RETURN space.name AS collection, space.model AS model, space.dimensions AS dimensions,
  space.slot AS slot, space.aspects AS aspects, space.kinds AS kinds,
  coalesce(space.element_kinds, []) AS element_kinds,
  coalesce(space.next_model, '') AS next_model,
  coalesce(space.next_dimensions, 0) AS next_dimensions,
  coalesce(space.former_dimensions, 0) AS former_dimensions, coalesce(space.phase, '') AS phase,
  EXISTS {
    MATCH (document:Document)
    WHERE document.collection = space.name AND document.title_key >= '' AND document.id >= ''
  } AS has_documents
ORDER BY collection
