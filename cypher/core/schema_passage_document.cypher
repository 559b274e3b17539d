// Passages are found by their document.
CYPHER 25
CREATE INDEX passage_document IF NOT EXISTS
FOR (n:Passage) ON (n.document)
