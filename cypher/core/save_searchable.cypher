// Adds to the aspects and kinds that a collection's passages and embedded elements have.
// $collection      its name
// $aspects, $kinds the aspects, and the kinds of passages, to add
// $element_kinds   the kinds of embedded elements to add
CYPHER 25
MATCH (space:Collection {name: $collection})
WITH space, [one IN $aspects WHERE NOT one IN space.aspects] AS aspects,
  [one IN $kinds WHERE NOT one IN space.kinds] AS kinds,
  [one IN $element_kinds WHERE NOT one IN coalesce(space.element_kinds, [])] AS element_kinds
WHERE aspects <> [] OR kinds <> [] OR element_kinds <> []
SET space.aspects = space.aspects + aspects, space.kinds = space.kinds + kinds,
  space.element_kinds = coalesce(space.element_kinds, []) + element_kinds
