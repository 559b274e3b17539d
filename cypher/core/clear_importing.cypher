// Forgets a collection whose import has not ended.
// $collection  its name
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'importing'})
DELETE space
