// Chunks are found by their document.
CYPHER 25
CREATE INDEX chunk_document IF NOT EXISTS
FOR (n:Chunk) ON (n.document)
