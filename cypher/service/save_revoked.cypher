// A key is good for nothing from now on, and who signed in with it is signed out.
// $id  what it is known by
CYPHER 25
MATCH (key:ServiceKey {id: $id})
SET key.revoked = coalesce(key.revoked, datetime())
WITH key
OPTIONAL MATCH (session:ServiceSession {key: key.id})
DETACH DELETE session
RETURN DISTINCT key.id AS id
