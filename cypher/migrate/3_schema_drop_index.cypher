// Removes a full-text index of version 2.
// $index  its name
CYPHER 25
DROP INDEX $index IF EXISTS
