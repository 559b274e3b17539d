// The turn that was asked under an Idempotency-Key.
// $collection  the collection that it was used for
// $once        its mark
CYPHER 25
MATCH (turn:ServiceTurn {once: $once})
WHERE turn.collection = $collection
RETURN turn.id AS id, turn.said AS said, turn.state AS state, turn.view AS view
