// Begins the copy of a collection on this server.
// $collection  its name
// $move        the name of the move, which the collection has where it comes from
CYPHER 25
MERGE (copy:CollectionCopy {name: $collection})
SET copy.slice = 0, copy.phase = 'nodes', copy.document = '', copy.after = '', copy.move = $move
