// Removes the full-text index of elements, so that it can be made anew where it has failed.
CYPHER 25
DROP INDEX element_texts IF EXISTS
