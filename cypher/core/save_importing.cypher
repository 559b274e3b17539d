// Begins the import of a collection: from now on it takes no documents, and has none that anybody sees.
// $collection  its name
// $properties  the properties of its node, as they will be
CYPHER 25
MERGE (space:Collection {name: $collection})
SET space = $properties, space.phase = 'importing', space.slices = 0
