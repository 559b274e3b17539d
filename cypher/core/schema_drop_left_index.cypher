// Removes an index whose constraint was never made, as a crash of the server leaves it.
CYPHER 25
DROP INDEX $name IF EXISTS
