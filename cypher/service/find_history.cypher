// The answered turns of a conversation, in order, with what a follow-up needs of them. What was shown
// to the reader is left out: with its trace it is a hundred times as long.
// $id                   the conversation's id
// $collection, $caller  about which collection it is, and whose it is
// $before               the number of the turn that they are to be before; null for all
CYPHER 25
MATCH (conversation:ServiceConversation {id: $id})
WHERE conversation.collection = $collection AND conversation.caller = $caller
RETURN COLLECT {
  MATCH (turn:ServiceTurn)-[:TURN_OF]->(conversation)
  WHERE turn.answer <> '' AND ($before IS NULL OR turn.number < $before)
  RETURN turn {.number, .question, .answer, .asked_of}
  ORDER BY turn.number
} AS turns
