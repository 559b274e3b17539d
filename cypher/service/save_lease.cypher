// Says of turns that they are still being answered, so that their Idempotency-Keys hold.
// $ids  the turns' ids
CYPHER 25
UNWIND $ids AS id
MATCH (turn:ServiceTurn {id: id})
WHERE turn.state = 'asked'
SET turn.asked_at = datetime()
