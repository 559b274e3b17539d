// Takes locks, each in its turn; they are held until the transaction ends, however it ends.
// Where it is not committed, no node is left of them; until then no other can make one of its id.
// $locks  their ids, in order
CYPHER 25
UNWIND $locks AS id
MERGE (lock:Lock {id: id})
SET lock.taken = true
