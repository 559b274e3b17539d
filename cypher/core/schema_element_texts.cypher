// The full-text index over all elements, by their names and what they say.
CYPHER 25
CREATE FULLTEXT INDEX element_texts IF NOT EXISTS
FOR (n:ElementText) ON EACH [n.name, n.text]
