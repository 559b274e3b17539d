// The full-text index over all passages, as version 5 has it.
CYPHER 25
CREATE FULLTEXT INDEX passage_texts IF NOT EXISTS
FOR (n:PassageText) ON EACH [n.search_text, n.search_terms, n.tenant]
