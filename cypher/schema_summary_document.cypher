// Summaries are found by their document.
CYPHER 25
CREATE INDEX summary_document IF NOT EXISTS
FOR (n:Summary) ON (n.document)
