// Takes locks, each in its turn; they are held until the transaction ends, however it ends.
// $locks  their ids, in order
CYPHER 25
UNWIND $locks AS id
MERGE (lock:Lock {id: id})
SET lock.taken = true
