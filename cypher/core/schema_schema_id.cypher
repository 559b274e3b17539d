// A graph has one version of its schema.
CYPHER 25
CREATE CONSTRAINT schema_id IF NOT EXISTS
FOR (n:Schema) REQUIRE n.id IS UNIQUE
