// The full-text index over all passages.
CYPHER 25
CREATE FULLTEXT INDEX passage_texts IF NOT EXISTS
FOR (n:Passage) ON EACH [n.text]
