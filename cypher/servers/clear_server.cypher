// Forgets another server, unless a collection lives there or is being moved to or from it; returns
// how many servers were forgotten.
// $name  its name
CYPHER 25
MATCH (server:Server {name: $name})
WHERE NOT EXISTS {
  MATCH (place:CollectionPlace)
  WHERE $name IN [place.server, place.moving_to, place.leaving]
}
DELETE server
RETURN count(*) AS servers
