// What is asked twice under one Idempotency-Key is one turn, also where it comes at the same time.
CYPHER 25
CREATE CONSTRAINT service_turn_once IF NOT EXISTS
FOR (n:ServiceTurn) REQUIRE n.once IS UNIQUE
