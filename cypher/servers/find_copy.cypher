// How far a collection has been copied to this server; no row if nothing was copied.
// $collection  its name
CYPHER 25
MATCH (copy:CollectionCopy {name: $collection})
RETURN copy.slice AS slice, copy.phase AS phase, copy.document AS document, copy.after AS after,
  copy.move AS move
