// How many nodes a run has staged.
// $run  the name of the run
CYPHER 25
MATCH (n:Staged {run: $run})
RETURN count(n) AS nodes
