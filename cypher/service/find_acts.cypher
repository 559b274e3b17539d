// What was changed, the newest first.
// $before  only what is older than this time and id, or ''
// $limit   how many
CYPHER 25
MATCH (act:ServiceAct)
WHERE act.at IS NOT NULL
WITH act, toString(act.at.epochMillis) + ' ' + act.id AS place
WHERE $before = '' OR place < $before
RETURN act {.key, .name, .what, .target, .request, at: toString(act.at)} AS act, place
ORDER BY place DESC
LIMIT $limit
