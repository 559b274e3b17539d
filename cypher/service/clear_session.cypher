// A browser is signed out.
// $hash  of its cookie
CYPHER 25
MATCH (session:ServiceSession {hash: $hash})
DELETE session
