// Takes a conversation and its turns out; how many conversations that were: 1, or 0.
// $id                   its id
// $collection, $caller  about which collection it is, and whose it is
CYPHER 25
MATCH (conversation:ServiceConversation {id: $id})
WHERE conversation.collection = $collection AND conversation.caller = $caller
OPTIONAL MATCH (turn:ServiceTurn)-[:TURN_OF]->(conversation)
WITH conversation, collect(turn) AS turns
FOREACH (turn IN turns | DETACH DELETE turn)
DETACH DELETE conversation
RETURN count(*) AS conversations
