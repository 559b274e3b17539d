// Removes the one embedding space of the first schema.
CYPHER 25
MATCH (space:EmbeddingSpace)
DELETE space
