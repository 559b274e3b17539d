// A run that stages the same node twice, after a lost reply, stages it once.
CYPHER 25
CREATE CONSTRAINT staged_id IF NOT EXISTS
FOR (n:Staged) REQUIRE (n.run, n.id) IS UNIQUE
