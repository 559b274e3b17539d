// A collection's documents are listed by their titles, page by page.
CYPHER 25
CREATE INDEX document_title IF NOT EXISTS
FOR (n:Document) ON (n.collection, n.title_key, n.id)
