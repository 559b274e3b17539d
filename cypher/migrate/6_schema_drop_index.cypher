// Removes a vector index of version 5, which had no place of a reader to filter by.
// $index  its name
CYPHER 25
DROP INDEX $index IF EXISTS
