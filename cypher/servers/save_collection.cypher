// Records a collection that was copied whole, and that its copy is complete.
// $collection  its name
// $properties  the properties of its node
CYPHER 25
MERGE (space:Collection {name: $collection})
SET space = $properties
WITH space
MATCH (copy:CollectionCopy {name: $collection})
SET copy.phase = 'done'
