// Ends a turn with what was answered.
// $collection   the collection that it is about
// $id           the turn's id
// $state        'answered', or 'left' where its reader left before the end
// $answer       what was said
// $cited, $hits the numbers that it cites, and the ids of the passages that were found
// $mode         the modes that it was asked by
// $view         the answer as clients are sent it, as JSON
// $asked_of     what the question was asked of and the documents that the answer cites, as JSON
CYPHER 25
MATCH (turn:ServiceTurn {id: $id})
WHERE turn.collection = $collection
SET turn.state = $state, turn.answer = $answer, turn.cited = $cited, turn.hits = $hits,
  turn.mode = $mode, turn.view = $view, turn.asked_of = $asked_of
RETURN count(turn) AS turns
