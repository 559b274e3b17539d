// The full-text index over all elements, as version 5 has it.
CYPHER 25
CREATE FULLTEXT INDEX element_texts IF NOT EXISTS
FOR (n:ElementText) ON EACH [n.search_text, n.search_terms, n.tenant]
