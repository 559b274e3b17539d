// A key that was made; of its secret only the hash is kept.
// $id, $hash     what it is known by, and the SHA-256 of the secret
// $name, $role   who it is for, and what it may
// $collections   the names of those it may see, or null for all
// $days          days until it expires, or null
// $quotas        tokens and money that it may spend: tokens_a_day and the like, or null
CYPHER 25
CREATE (key:ServiceKey {id: $id, hash: $hash, name: $name, role: $role, made: datetime()})
SET key.collections = $collections, key += $quotas,
  key.expires = CASE WHEN $days IS NULL THEN null ELSE datetime() + duration({days: $days}) END
