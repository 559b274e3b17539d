// The full-text index over all passages; staged ones are in it before they are Passages.
CYPHER 25
CREATE FULLTEXT INDEX passage_texts IF NOT EXISTS
FOR (n:PassageText) ON EACH [n.text]
