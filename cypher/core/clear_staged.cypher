// Deletes what runs have staged and will never switch in.
// $runs  their names
CYPHER 25
MATCH (n:Staged)
WHERE n.run IN $runs AND NOT n:Passage|Element
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 500 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
