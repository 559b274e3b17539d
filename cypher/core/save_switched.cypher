// Records whether some documents of a collection are left out of questions.
// $collection  its name
CYPHER 25
MATCH (space:Collection {name: $collection})
SET space.has_off = EXISTS {
  MATCH (document:Document {collection: $collection}) WHERE document.is_off = true
}
