// A decision has a number within its collection.
CYPHER 25
CREATE CONSTRAINT decision_id IF NOT EXISTS
FOR (n:Decision) REQUIRE n.id IS UNIQUE
