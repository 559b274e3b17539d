// How many nodes of a collection in the search indexes readers must not see: staged and replaced ones.
// They are read from indexes: what other collections have staged costs nothing.
// $collection  its name
// $run_prefix  what the names of its runs begin with
CYPHER 25
CALL () {
  MATCH (n:Staged)
  WHERE n.run STARTS WITH $run_prefix AND n.id >= ''
  RETURN count(n) AS staged
}
CALL () {
  MATCH (n:Retired {collection: $collection})
  RETURN count(n) AS retired
}
RETURN staged + retired AS nodes
