// Forgets where a collection lives: it lives at home.
// $collection  its name
CYPHER 25
MATCH (place:CollectionPlace {name: $collection})
DELETE place
