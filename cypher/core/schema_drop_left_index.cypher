// Removes an index whose constraint was never made, as a crash of the server leaves it.
// $name  of the index
CYPHER 25
DROP INDEX $name IF EXISTS
