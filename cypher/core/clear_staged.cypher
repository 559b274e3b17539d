// Deletes what runs staged and will never switch in.
// $runs  their names
CYPHER 25
MATCH (n:Staged)
WHERE n.run IN $runs
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
