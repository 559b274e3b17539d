// Removes a vector index that has failed, so that it can be made anew; the program puts its name in
// the place of passage_vectors_256.
CYPHER 25
DROP INDEX passage_vectors_256 IF EXISTS
