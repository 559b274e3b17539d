// Deletes some of the acts from before the last days, and returns how many.
// $days   how many days
// $limit  how many at most
CYPHER 25
MATCH (act:ServiceAct)
WHERE act.at < datetime() - duration({days: $days})
WITH act LIMIT $limit
DETACH DELETE act
RETURN count(*) AS deleted
