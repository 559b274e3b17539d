// How many nodes are staged by runs that have not ended.
// $collection  its name, or '' for all
// $runs        the runs that have ended
CYPHER 25
MATCH (n:Staged)
WHERE NOT n.run IN $runs AND NOT n:Passage|Element
  AND ($collection = '' OR n.collection = $collection)
RETURN count(n) AS nodes, count(DISTINCT n.run) AS runs
