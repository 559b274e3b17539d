// Deletes the nodes that a switch has hidden.
CYPHER 25
MATCH (n:Retired)
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 500 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
