// Begins a turn of a conversation, which is the last one then; no row, where that isn't there.
// $conversation         the conversation's id
// $collection, $caller  about which collection it is, and whose it is
// $id                   the turn's id
// $question, $asked     the question, and how it is asked, as JSON
// $note                 what is kept with it
// $once, $said          the mark of its Idempotency-Key and of what was sent with it; null for none
CYPHER 25
MATCH (conversation:ServiceConversation {id: $conversation})
WHERE conversation.collection = $collection AND conversation.caller = $caller
// First, so that two turns that begin at once have two numbers.
SET conversation.updated_at = datetime()
WITH conversation
SET conversation.title = CASE conversation.title
  WHEN '' THEN left($question, 200) ELSE conversation.title END
// Merged: where the reply was lost with the connection, the driver sends this again.
WITH conversation, coalesce(
  COLLECT { MATCH (one:ServiceTurn)-[:TURN_OF]->(conversation) RETURN max(one.number) }[0], 0
) + 1 AS number
MERGE (turn:ServiceTurn {id: $id})
ON CREATE SET turn += {
  collection: $collection, caller: $caller, question: $question, asked: $asked,
  note: $note, state: 'asked', created_at: datetime(), once: $once, said: $said, number: number
}
MERGE (turn)-[:TURN_OF]->(conversation)
RETURN turn.id AS id
