// The full-text index over all passages by their folded words, with the token of their collection;
// staged ones are in it before they are Passages. Its words are folded, not printed as in the book.
CYPHER 25
CREATE FULLTEXT INDEX passage_texts IF NOT EXISTS
FOR (n:PassageText) ON EACH [n.search_text, n.search_terms, n.tenant]
