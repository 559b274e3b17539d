// Opens a collection to writers again.
// $collection  its name
CYPHER 25
MATCH (moved:MovedCollection {name: $collection})
DELETE moved
