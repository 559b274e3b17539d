// How many nodes the indexes of retrieval may hold that no reader is to see: staged or replaced ones.
// Both counts are read from the count store, whatever their size.
CYPHER 25
CALL () { MATCH (n:Staged) RETURN count(n) AS staged }
CALL () { MATCH (n:Retired) RETURN count(n) AS retired }
RETURN staged + retired AS nodes
