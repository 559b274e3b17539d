// A page of somebody's conversations about a collection, the last first.
// $collection, $caller    about which collection, and whose
// $before, $before_id     when the last one of the page before was in use, and its id; '' for the
//                         first page
// $limit                  how many
CYPHER 25
MATCH (conversation:ServiceConversation)
WHERE conversation.collection = $collection AND conversation.caller = $caller
  AND ($before = '' OR conversation.updated_at < datetime($before)
    OR conversation.updated_at = datetime($before) AND conversation.id > $before_id)
WITH conversation
ORDER BY conversation.updated_at DESC, conversation.id
LIMIT $limit
RETURN conversation {
  .id, .collection, .title,
  turns: COUNT { (conversation)<-[:TURN_OF]-(:ServiceTurn) },
  created_at: toString(conversation.created_at), updated_at: toString(conversation.updated_at)
} AS conversation
ORDER BY conversation.updated_at DESC, conversation.id
