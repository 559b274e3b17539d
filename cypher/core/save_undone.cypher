// Undoes a decision that is in force; returns how many were undone, 1 or 0.
// $collection, $number  its collection, and its number
// $by                   who undoes it
CYPHER 25
MATCH (decision:Decision {id: $collection + '/' + toString($number)})
WHERE decision.collection = $collection AND decision.undone_at IS NULL
SET decision.undone_at = datetime(), decision.undone_by = $by
RETURN count(decision) AS decisions
