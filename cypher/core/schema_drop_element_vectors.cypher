// Removes a vector index of elements that has failed, so that it can be made anew; the program puts
// its name in the place of element_vectors_256.
CYPHER 25
DROP INDEX element_vectors_256 IF EXISTS
