// Keeps what a reader thought of an answer; how many turns that are: 1, or 0.
// $id                   the turn's id
// $collection, $caller  about which collection it is, and whose it is
// $value, $feedback     1 or -1, and why
CYPHER 25
MATCH (turn:ServiceTurn {id: $id})
WHERE turn.collection = $collection AND turn.caller = $caller
SET turn.value = $value, turn.feedback = $feedback
RETURN count(turn) AS turns
