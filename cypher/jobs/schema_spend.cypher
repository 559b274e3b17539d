// One ServiceSpend of each id.
CYPHER 25
CREATE CONSTRAINT service_spend_id IF NOT EXISTS
FOR (n:ServiceSpend) REQUIRE n.id IS UNIQUE
