// No two collections share a name, as version 2 has it.
CYPHER 25
CREATE CONSTRAINT collection_name IF NOT EXISTS
FOR (n:Collection) REQUIRE n.name IS UNIQUE
