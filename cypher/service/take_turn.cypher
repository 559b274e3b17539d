// Returns the turn that was asked under an Idempotency-Key, and takes it up again if its answer is
// not whole.
// An answer is not whole if its reader left before the end, or if the process that wrote it ended.
// The same turn is then asked again; `is_taken` says so. A key is forgotten after a day, and if
// another question comes with it after its own was given up.
// $collection  the collection that it was used for
// $once        the mark of the key
// $said        the mark of what is sent with it now
CYPHER 25
MATCH (turn:ServiceTurn {once: $once})
WHERE turn.collection = $collection
// First, so that what is read afterwards is read with the turn locked: one of two retries takes it.
SET turn.seen = timestamp()
WITH turn, turn.said = $said AS is_same,
  turn.created_at < datetime() - duration('PT24H') AS is_old,
  turn.state = 'asked'
    AND coalesce(turn.asked_at, turn.created_at) < datetime() - duration('PT10M') AS is_given_up
WITH turn, is_old OR is_given_up AND NOT is_same AS is_over,
  is_same AND (is_given_up OR turn.state = 'left') AS is_open
WITH turn, is_over, is_open AND NOT is_over AS is_taken
SET turn.once = CASE WHEN is_over THEN null ELSE turn.once END,
  turn.state = CASE WHEN is_taken THEN 'asked' ELSE turn.state END,
  turn.asked_at = CASE WHEN is_taken THEN datetime() ELSE turn.asked_at END
WITH turn, is_taken
WHERE NOT is_over
MATCH (turn)-[:TURN_OF]->(conversation:ServiceConversation)
RETURN turn.id AS id, turn.number AS number, turn.said AS said, turn.state AS state,
  turn.view AS view, conversation.id AS conversation, is_taken
