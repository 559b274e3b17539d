// No two collections share a name.
CYPHER 25
CREATE CONSTRAINT collection_name IF NOT EXISTS
FOR (n:Collection) REQUIRE n.name IS UNIQUE
