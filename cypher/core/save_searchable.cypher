// Adds to the aspects and kinds that a collection's passages have.
// $collection      its name
// $aspects, $kinds what is to be found from here on
CYPHER 25
MATCH (space:Collection {name: $collection})
WHERE any(one IN $aspects WHERE NOT one IN space.aspects)
  OR any(one IN $kinds WHERE NOT one IN space.kinds)
SET space.aspects = space.aspects + [one IN $aspects WHERE NOT one IN space.aspects],
  space.kinds = space.kinds + [one IN $kinds WHERE NOT one IN space.kinds]
