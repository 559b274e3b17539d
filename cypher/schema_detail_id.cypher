// No two details share an id.
CYPHER 25
CREATE CONSTRAINT detail_id IF NOT EXISTS
FOR (n:Detail) REQUIRE n.id IS UNIQUE
