// How many nodes in the search indexes readers must not see: staged and replaced ones.
// Both counts are read from the count store, whatever their size.
CYPHER 25
CALL () { MATCH (n:Staged) RETURN count(n) AS staged }
CALL () { MATCH (n:Retired) RETURN count(n) AS retired }
RETURN staged + retired AS nodes
