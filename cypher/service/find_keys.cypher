// All keys, the oldest first.
CYPHER 25
MATCH (key:ServiceKey)
RETURN key {.id, .name, .role, .collections, .tokens_a_day, .tokens_a_month, .money_a_day,
    .money_a_month, made: toString(key.made), expires: toString(key.expires),
    used: toString(key.used), revoked: toString(key.revoked)} AS key
ORDER BY key.made, key.id
