// Conversations are listed by whose they are, the last first.
CYPHER 25
CREATE INDEX service_conversation_owner IF NOT EXISTS
FOR (n:ServiceConversation) ON (n.collection, n.caller, n.updated_at)
