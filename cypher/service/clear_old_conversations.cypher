// Deletes some of the conversations that nobody has gone on with in the last days, and returns how
// many.
// $days   how many days
// $limit  how many at most
CYPHER 25
MATCH (conversation:ServiceConversation)
WHERE conversation.updated_at < datetime() - duration({days: $days})
WITH conversation LIMIT $limit
OPTIONAL MATCH (turn:ServiceTurn)-[:TURN_OF]->(conversation)
WITH conversation, collect(turn) AS turns
FOREACH (turn IN turns | DETACH DELETE turn)
DETACH DELETE conversation
RETURN count(*) AS deleted
