// Makes concurrent switches wait for each other, and records the aspects that become searchable.
// $aspects  of the document that is switched in
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
SET space.aspects =
  space.aspects + [aspect IN $aspects WHERE NOT aspect IN space.aspects]
RETURN space.model AS model, space.dimensions AS dimensions, space.aspects AS aspects,
  coalesce(space.next_model, '') AS next_model,
  coalesce(space.next_dimensions, 0) AS next_dimensions, coalesce(space.phase, '') AS phase,
  COUNT { (:Document) } AS documents
