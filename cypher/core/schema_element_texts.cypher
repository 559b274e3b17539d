// The full-text index over all elements, by the folded words of their names and of what they say.
CYPHER 25
CREATE FULLTEXT INDEX element_texts IF NOT EXISTS
FOR (n:ElementText) ON EACH [n.search_text, n.search_terms, n.tenant]
