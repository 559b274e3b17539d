// Closes a collection to writers, as it is being moved, or has been moved, to another server.
// $collection  its name
// $server      the name of the other server
// $move        the name of the move, by which its copy is recognised
// $is_moving   whether it is still being moved
CYPHER 25
MERGE (moved:MovedCollection {name: $collection})
SET moved.server = $server, moved.is_moving = $is_moving, moved.move = $move
