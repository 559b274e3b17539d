// Takes a turn out that came to nothing.
// $collection  the collection that it is about
// $id          the turn's id
CYPHER 25
MATCH (turn:ServiceTurn {id: $id})
WHERE turn.collection = $collection AND turn.state = 'asked'
DETACH DELETE turn
