// Documents are found by the name of their file.
CYPHER 25
CREATE INDEX document_file IF NOT EXISTS
FOR (n:Document) ON (n.collection, n.file_key)
