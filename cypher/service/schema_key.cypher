// One ServiceKey of each id.
CYPHER 25
CREATE CONSTRAINT service_key_id IF NOT EXISTS
FOR (n:ServiceKey) REQUIRE n.id IS UNIQUE
