// Removes the index of the next embedding space, which is the space now, or was given up.
CYPHER 25
DROP INDEX passage_vectors_next IF EXISTS
