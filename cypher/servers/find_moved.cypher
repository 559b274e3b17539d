// Where a collection of this server is being moved to, or has been moved to; no row if it is not.
// $collection  its name
CYPHER 25
MATCH (moved:MovedCollection {name: $collection})
RETURN moved.server AS server, moved.is_moving AS is_moving, moved.move AS move
