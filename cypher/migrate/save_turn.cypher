// Takes the turn to migrate.
// The node is never committed: until its transaction ends, no other can make one of the same key;
// and the transaction ends with whoever holds it, however that ends.
CYPHER 25
MERGE (:Lock {id: 'migrate'})
