// How many nodes a run has staged.
// $run  the name of the run
CYPHER 25
MATCH (n:Staged {run: $run})
WHERE n.id >= ''
RETURN count(n) AS nodes
