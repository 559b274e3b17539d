// Deletes what a switch took out.
CYPHER 25
MATCH (n:Retired)
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS
