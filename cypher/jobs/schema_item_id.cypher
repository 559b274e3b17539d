// No two items of jobs share an id.
CYPHER 25
CREATE CONSTRAINT service_item_id IF NOT EXISTS
FOR (n:ServiceItem) REQUIRE n.id IS UNIQUE
