// Begins a conversation.
// $id                   its id
// $collection, $caller  about which collection it is, and whose it is
// $title                what it is called; '' until its first question
CYPHER 25
CREATE (conversation:ServiceConversation {
  id: $id, collection: $collection, caller: $caller, title: $title,
  created_at: datetime(), updated_at: datetime()
})
RETURN conversation {
  .id, .collection, .title, turns: 0,
  created_at: toString(conversation.created_at), updated_at: toString(conversation.updated_at)
} AS conversation
