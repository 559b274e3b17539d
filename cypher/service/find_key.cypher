// A key that holds: neither revoked nor expired.
// $id  what it is known by
CYPHER 25
MATCH (key:ServiceKey {id: $id})
WHERE key.revoked IS NULL AND (key.expires IS NULL OR key.expires > datetime())
RETURN key {.id, .hash, .name, .role, .collections, .tokens_a_day, .tokens_a_month, .money_a_day,
    .money_a_month} AS key,
  key.used IS NULL OR key.used < datetime() - duration({minutes: 1}) AS is_idle
