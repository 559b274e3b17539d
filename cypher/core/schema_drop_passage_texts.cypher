// Removes the full-text index, so that it can be made anew where it has failed.
CYPHER 25
DROP INDEX passage_texts IF EXISTS
