// Forgets an Idempotency-Key that is older than a day, or whose turn was never answered.
// $collection  the collection that it was used for
// $once        its mark
CYPHER 25
MATCH (turn:ServiceTurn {once: $once})
WHERE turn.collection = $collection
  AND (turn.created_at < datetime() - duration('PT24H')
    OR turn.state = 'asked' AND turn.created_at < datetime() - duration('PT10M'))
REMOVE turn.once
