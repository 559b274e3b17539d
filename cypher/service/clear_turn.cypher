// Takes a turn out that came to nothing; one that was asked again keeps what was said the first time.
// $collection  the collection that it is about
// $id          the turn's id
CYPHER 25
MATCH (turn:ServiceTurn {id: $id})
WHERE turn.collection = $collection AND turn.state = 'asked'
FOREACH (again IN CASE WHEN turn.view IS NOT NULL THEN [turn] ELSE [] END |
  SET again.state = 'left'
)
FOREACH (empty IN CASE WHEN turn.view IS NULL THEN [turn] ELSE [] END |
  DETACH DELETE empty
)
