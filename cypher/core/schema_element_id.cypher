// No two elements share an id.
CYPHER 25
CREATE CONSTRAINT element_id IF NOT EXISTS
FOR (n:Element) REQUIRE n.id IS UNIQUE
