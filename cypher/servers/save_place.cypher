// Records where a collection lives. Without a server in `$known` nothing is recorded; returns how many
// places were.
// $collection  its name
// $server      the server that it lives on
// $moving_to   the server that it is being moved to; '' for none
// $leaving     the server that its old copy is still to be removed from; '' for none
// $known       the name of the home server, which has no node
CYPHER 25
WITH [name IN [$server, $moving_to, $leaving] WHERE name <> '' AND name <> $known
  AND NOT EXISTS { (:Server {name: name}) }] AS unknown
WHERE unknown = []
MERGE (place:CollectionPlace {name: $collection})
SET place.server = $server, place.moving_to = $moving_to, place.leaving = $leaving
RETURN count(place) AS places
