// A turn has one id.
CYPHER 25
CREATE CONSTRAINT service_turn_id IF NOT EXISTS
FOR (n:ServiceTurn) REQUIRE n.id IS UNIQUE
