// How many edges lead from a run's staged nodes to passages that readers see.
// $run         the name of the run
// $collection  the collection of the passages
CYPHER 25
MATCH (n:Staged {run: $run})-[edge]->(end:Passage)
WHERE n.id >= '' AND end.collection = $collection
RETURN count(edge) AS edges
