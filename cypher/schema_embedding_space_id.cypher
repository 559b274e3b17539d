// A graph has one embedding space.
CYPHER 25
CREATE CONSTRAINT embedding_space_id IF NOT EXISTS
FOR (n:EmbeddingSpace) REQUIRE n.id IS UNIQUE
