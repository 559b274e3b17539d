// One ServiceSession of each hash.
CYPHER 25
CREATE CONSTRAINT service_session_hash IF NOT EXISTS
FOR (n:ServiceSession) REQUIRE n.hash IS UNIQUE
