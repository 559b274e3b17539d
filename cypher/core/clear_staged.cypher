// Deletes what runs staged and never switched in.
// $before  runs named before this one; a run's name begins with the time it began
CYPHER 25
MATCH (n:Staged)
WHERE n.run < $before
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
