// What was changed, the newest first.
// $at, $id  only what is older than the act of this time and id; '' for the newest
// $limit    how many
CYPHER 25
WITH CASE $at WHEN '' THEN datetime() + duration('P1D') ELSE datetime($at) END AS last
MATCH (act:ServiceAct)
WHERE act.at <= last AND ($at = '' OR act.at < last OR act.id < $id)
WITH act
ORDER BY act.at DESC, act.id DESC
LIMIT $limit
RETURN act {.key, .name, .what, .target, .request, at: toString(act.at)} AS act,
  toString(act.at) + ' ' + act.id AS place
