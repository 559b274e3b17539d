// Documents are found by where they come from.
CYPHER 25
CREATE INDEX document_source IF NOT EXISTS
FOR (n:Document) ON (n.collection, n.source)
