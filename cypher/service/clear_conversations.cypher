// Takes all conversations about a collection out, everybody's.
// $collection  its name
CYPHER 25
MATCH (conversation:ServiceConversation)
WHERE conversation.collection = $collection
OPTIONAL MATCH (turn:ServiceTurn)-[:TURN_OF]->(conversation)
WITH conversation, collect(turn) AS turns
FOREACH (turn IN turns | DETACH DELETE turn)
DETACH DELETE conversation
