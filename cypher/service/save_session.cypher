// A browser is signed in; sessions that are over are swept.
// $hash    of its cookie
// $key     the id of the key that it came with, or '' for the person at the machine
// $claims  those of an OpenID token that it came with, as JSON, or ''
// $hours   until it is over
CYPHER 25
CALL () {
  MATCH (old:ServiceSession) WHERE old.until < datetime()
  DELETE old
}
CREATE (:ServiceSession {hash: $hash, key: $key, claims: $claims,
  until: datetime() + duration({hours: $hours})})
