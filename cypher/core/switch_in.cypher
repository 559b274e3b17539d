// Gives a run's staged nodes their labels, which puts them in the indexes.
// $run      the name of the run
// $created  when each document first came in, by its id; a new one is not there
CYPHER 25
MATCH (n:Staged {run: $run})
FOREACH (_ IN CASE WHEN 'Document' IN n.labels THEN [1] ELSE [] END |
  SET n.updated_at = datetime(), n.created_at = coalesce(datetime($created[n.id]), datetime()))
FOREACH (_ IN CASE WHEN 'Part' IN n.labels THEN [1] ELSE [] END | SET n.updated_at = datetime())
SET n:$(n.labels)
REMOVE n:Staged, n.run, n.labels
RETURN count(n) AS nodes
