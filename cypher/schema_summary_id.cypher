// No two summaries share an id.
CYPHER 25
CREATE CONSTRAINT summary_id IF NOT EXISTS
FOR (n:Summary) REQUIRE n.id IS UNIQUE
