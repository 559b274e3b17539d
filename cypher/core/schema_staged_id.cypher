// A run that stages the same node twice, after a lost reply, stages it once. Its index finds the nodes
// of a run, and those of a collection's runs, where a statement has a condition on both properties.
CYPHER 25
CREATE CONSTRAINT staged_id IF NOT EXISTS
FOR (n:Staged) REQUIRE (n.run, n.id) IS UNIQUE
