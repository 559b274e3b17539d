// Deletes the node that stands for a collection.
// $collection  its name
CYPHER 25
MATCH (space:Collection {name: $collection})
DELETE space
