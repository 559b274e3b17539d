// Makes concurrent switches wait for each other, and records the aspects that become searchable.
// $aspects  of the document that is switched in
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
SET space.aspects =
  space.aspects + [aspect IN $aspects WHERE NOT aspect IN space.aspects]
RETURN space.model AS model, space.dimensions AS dimensions
