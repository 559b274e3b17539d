// Removes the labels and properties of staging from nodes that runs have switched in.
// $runs  their names
CYPHER 25
MATCH (n:Staged)
WHERE n.run IN $runs AND n.id >= '' AND n:Passage|Element
CALL (n) { REMOVE n:Staged, n.run, n.labels } IN TRANSACTIONS OF 500 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
