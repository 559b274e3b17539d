// Deletes what was decided about a collection, with its last document.
// $collection  its name
CYPHER 25
MATCH (decision:Decision)
WHERE decision.id STARTS WITH $collection + '/' AND decision.collection = $collection
DETACH DELETE decision
