// Of each graph a document has one part, as version 2 has it.
CYPHER 25
CREATE CONSTRAINT part_id IF NOT EXISTS
FOR (n:Part) REQUIRE n.id IS UNIQUE
