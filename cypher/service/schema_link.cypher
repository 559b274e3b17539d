// One ServiceLink of each hash.
CYPHER 25
CREATE CONSTRAINT service_link_hash IF NOT EXISTS
FOR (n:ServiceLink) REQUIRE n.hash IS UNIQUE
