// Takes a collection's turn to be re-embedded.
// The node is never committed: until its transaction ends, no other can make one of the same key;
// and the transaction ends with whoever holds it, however that ends.
// $turn  its id
CYPHER 25
MERGE (:Lock {id: $turn})
