// A conversation has one id.
CYPHER 25
CREATE CONSTRAINT service_conversation_id IF NOT EXISTS
FOR (n:ServiceConversation) REQUIRE n.id IS UNIQUE
