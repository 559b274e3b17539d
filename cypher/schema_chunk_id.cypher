// No two chunks share an id.
CYPHER 25
CREATE CONSTRAINT chunk_id IF NOT EXISTS
FOR (n:Chunk) REQUIRE n.id IS UNIQUE
