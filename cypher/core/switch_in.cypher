// Makes a run's staged nodes visible: gives them the labels that readers ask for. What staging needed
// is taken off documents and parts here, and off all others afterwards, in slices (clear_staging).
// $run      the name of the run
// $created  when each document first came in, by its id; a new one is not there
CYPHER 25
MATCH (n:Staged {run: $run})
SET n:$(n.labels)
WITH n
WHERE n:Document|Part
SET n.updated_at = datetime()
FOREACH (_ IN CASE WHEN n:Document THEN [1] ELSE [] END |
  SET n.created_at = coalesce(datetime($created[n.id]), datetime()))
REMOVE n:Staged, n.run, n.labels
