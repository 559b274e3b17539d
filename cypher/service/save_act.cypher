// Somebody changed something.
// $key, $name, $what, $target, $request  who, called what, did what, to what, in which request
CYPHER 25
CREATE (:ServiceAct {id: randomUUID(), at: datetime(), key: $key, name: $name, what: $what,
  target: $target, request: $request})
