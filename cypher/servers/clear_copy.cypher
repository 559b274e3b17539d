// Forgets how far a collection has been copied.
// $collection  its name
CYPHER 25
MATCH (copy:CollectionCopy {name: $collection})
DELETE copy
