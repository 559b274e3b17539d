// A link that signs a browser in, once; those that were not used in time are swept.
// $hash     of its token
// $minutes  that it is good for
CYPHER 25
CALL () {
  MATCH (old:ServiceLink) WHERE old.until < datetime()
  DELETE old
}
CREATE (:ServiceLink {hash: $hash, until: datetime() + duration({minutes: $minutes})})
