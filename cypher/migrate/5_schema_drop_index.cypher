// Removes a full-text index of version 3, which was over the printed texts.
// $index  its name
CYPHER 25
DROP INDEX $index IF EXISTS
