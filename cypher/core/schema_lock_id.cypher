// Whoever takes a lock takes the only one of its id.
CYPHER 25
CREATE CONSTRAINT lock_id IF NOT EXISTS
FOR (n:Lock) REQUIRE n.id IS UNIQUE
