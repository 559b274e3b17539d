// A key was just used.
// $id  what it is known by
CYPHER 25
MATCH (key:ServiceKey {id: $id})
SET key.used = datetime()
