// Removes an index of the first schema.
// $index  its name
CYPHER 25
DROP INDEX $index IF EXISTS
