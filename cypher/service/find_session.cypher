// A session that is not over, and the key that it came with, if that holds.
// $hash  of its cookie
CYPHER 25
MATCH (session:ServiceSession {hash: $hash})
WHERE session.until > datetime()
OPTIONAL MATCH (key:ServiceKey {id: session.key})
WHERE key.revoked IS NULL AND (key.expires IS NULL OR key.expires > datetime())
RETURN session.key AS id, session.claims AS claims, key {.id, .name, .role, .collections, .tokens_a_day, .tokens_a_month,
    .money_a_day, .money_a_month} AS key
