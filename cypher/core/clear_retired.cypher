// Deletes the nodes that switches have hidden.
// $first_collection, $last_collection  a name twice, or '' and the last character for all
CYPHER 25
MATCH (n:Retired)
WHERE n.collection >= $first_collection AND n.collection <= $last_collection
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 500 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
