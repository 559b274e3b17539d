// How many nodes are staged by runs that may still be going on.
// $before  runs named before this one are not; a run's name begins with the time it began
CYPHER 25
MATCH (n:Staged)
WHERE n.run >= $before
RETURN count(n) AS nodes, count(DISTINCT n.run) AS runs
