// Documents are found by the name of their file without its ending.
CYPHER 25
CREATE INDEX document_stem IF NOT EXISTS
FOR (n:Document) ON (n.collection, n.stem_key)
