// Makes a run's staged nodes visible by setting the labels that readers ask for. The labels of staging
// are removed from documents and parts here, and from the others afterwards in batches
// (clear_staging).
// $run      the name of the run
// $whole    whether the labels of staging are removed from all nodes, because they are few
// $created  when each document was first ingested, by its id; a new one is left out
// $kept     properties that a document keeps of the one that it replaces, by its id
CYPHER 25
MATCH (n:Staged {run: $run})
WHERE n.id >= ''
// All are found before the first loses what it is found by.
WITH collect(n) AS nodes
UNWIND nodes AS n
SET n:$(n.labels)
WITH n
WHERE $whole = true OR n:Document|Part
FOREACH (_ IN CASE WHEN n:Document|Part THEN [1] ELSE [] END |
  SET n.updated_at = datetime())
FOREACH (_ IN CASE WHEN n:Document THEN [1] ELSE [] END |
  SET n.created_at = coalesce(datetime($created[n.id]), datetime()), n += coalesce($kept[n.id], {}))
REMOVE n:Staged, n.run, n.labels
