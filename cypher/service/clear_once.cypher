// Forgets an Idempotency-Key that is older than a day, or whose turn was not answered and of which
// nothing was heard for ten minutes: whoever writes it renews it meanwhile (save_lease).
// $collection  the collection that it was used for
// $once        its mark
CYPHER 25
MATCH (turn:ServiceTurn {once: $once})
WHERE turn.collection = $collection
  AND (turn.created_at < datetime() - duration('PT24H')
    OR turn.state = 'asked'
    AND COALESCE(turn.renewed_at, turn.created_at) < datetime() - duration('PT10M'))
REMOVE turn.once
