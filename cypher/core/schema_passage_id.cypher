// No two passages share an id.
CYPHER 25
CREATE CONSTRAINT passage_id IF NOT EXISTS
FOR (n:Passage) REQUIRE n.id IS UNIQUE
