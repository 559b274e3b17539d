// How many nodes are staged by runs that may still be going on.
// $collection  its name, or '' for all
// $before      runs named before this one are not; a run's name begins with the time it began
CYPHER 25
MATCH (n:Staged)
WHERE n.run >= $before AND ($collection = '' OR n.collection = $collection)
RETURN count(n) AS nodes, count(DISTINCT n.run) AS runs
