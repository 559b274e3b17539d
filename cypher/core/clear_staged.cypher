// Deletes what runs have staged and will never switch in.
// $runs  their names
CYPHER 25
MATCH (n:Staged)
WHERE n.run IN $runs AND n.id >= '' AND NOT n:Passage|Element
CALL (n) {
  // This waits for a switch whose commit is still under way, as when its connection was lost. What
  // it has made visible meanwhile stays.
  REMOVE n.labels
  WITH n
  WHERE n:Staged AND NOT n:Passage|Element
  DETACH DELETE n
} IN TRANSACTIONS OF 500 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
