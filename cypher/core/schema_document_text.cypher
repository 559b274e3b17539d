// Documents are found by what they say, whatever they are called.
CYPHER 25
CREATE INDEX document_text IF NOT EXISTS
FOR (n:Document) ON (n.collection, n.sha256)
