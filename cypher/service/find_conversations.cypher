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
WITH conversation AS own
ORDER BY own.updated_at DESC, own.id
LIMIT $limit
RETURN own {
  .id, .collection, .title,
  turns: COUNT { (own)<-[:TURN_OF]-(:ServiceTurn) },
  created_at: toString(own.created_at), updated_at: toString(own.updated_at)
} AS conversation
// By the time and not by its text, which leaves the zeros at a fraction's end out.
ORDER BY own.updated_at DESC, own.id
