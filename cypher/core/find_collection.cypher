// The properties of a collection's node.
// $collection  its name
CYPHER 25
MATCH (space:Collection {name: $collection})
RETURN properties(space) AS properties
