// All keys, the oldest first.
CYPHER 25
MATCH (own:ServiceKey)
RETURN own {.id, .name, .role, .collections, .tokens_a_day, .tokens_a_month, .money_a_day,
    .money_a_month, made: toString(own.made), expires: toString(own.expires),
    used: toString(own.used), revoked: toString(own.revoked)} AS key
// By the time and not by its text, which leaves the zeros at a fraction's end out.
ORDER BY own.made, own.id
