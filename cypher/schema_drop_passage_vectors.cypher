// Removes the vector index, so that an empty graph can take another embedding space.
CYPHER 25
DROP INDEX passage_vectors IF EXISTS
