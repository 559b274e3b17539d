// Renews turns that are still being answered, so that their Idempotency-Keys hold.
// $ids  the turns' ids
CYPHER 25
UNWIND $ids AS id
MATCH (turn:ServiceTurn {id: id})
WHERE turn.state = 'asked'
SET turn.renewed_at = datetime()
