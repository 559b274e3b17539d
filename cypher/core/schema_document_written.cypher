// The document of a collection that was written last is found.
CYPHER 25
CREATE INDEX document_written IF NOT EXISTS
FOR (n:Document) ON (n.collection, n.updated_at)
