// A conversation and its turns, in order.
// $id                   its id
// $collection, $caller  about which collection it is, and whose it is
CYPHER 25
MATCH (conversation:ServiceConversation {id: $id})
WHERE conversation.collection = $collection AND conversation.caller = $caller
RETURN conversation {
  .id, .collection, .title,
  turns: COUNT { (conversation)<-[:TURN_OF]-(:ServiceTurn) },
  created_at: toString(conversation.created_at), updated_at: toString(conversation.updated_at)
} AS conversation, COLLECT {
  MATCH (turn:ServiceTurn)-[:TURN_OF]->(conversation)
  RETURN turn {
    .id, .number, .question, .answer, .cited, .hits, .mode, .asked, .note, .value, .feedback,
    .view, .state, created_at: toString(turn.created_at)
  }
  ORDER BY turn.number
} AS turns
