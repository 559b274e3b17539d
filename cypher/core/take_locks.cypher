// Takes locks one after the other; they are held until the transaction ends, however it ends.
// Unless it is committed, no node is left of them; until then no other transaction can make one with
// the same id.
// The times tell whether a collection has changed (core/count_words).
// $locks  their ids, in order
CYPHER 25
UNWIND $locks AS id
MERGE (lock:Lock {id: id})
SET lock.taken_at = datetime()
