// How many nodes of a collection each query finds in a full-text index, how many nodes it has there,
// their mean length in words, and the revision of the collection. That is of the times at which its
// writers took its locks, so it changes whenever a part of it comes, goes or is replaced.
// $locks       the beginning of the ids of its locks
// $index_name  the full-text index
// $revision    the revision that the caller has counts of; '' for none
// $all         the query for all nodes, which are not counted again at that revision
// $missing     the queries that it has no counts of
// $queries     all other queries; they are counted if the revision is another one
CYPHER 25
MATCH (lock:Lock)
WHERE lock.id STARTS WITH $locks
WITH [count(lock), max(lock.taken_at.epochMillis), sum(lock.taken_at.epochMillis),
  sum(lock.taken_at.nanosecond)] AS times
WITH reduce(text = '', number IN times | text + '/' + coalesce(toString(number), '')) AS revision
RETURN revision, COLLECT {
  UNWIND CASE revision WHEN $revision THEN $missing ELSE $queries END AS query
  CALL (query) {
    CALL db.index.fulltext.queryNodes($index_name, query) YIELD node
    WHERE node:Passage|Element
    RETURN count(*) AS nodes
  }
  RETURN {query: query, nodes: nodes}
} AS counts, COLLECT {
  UNWIND CASE revision WHEN $revision THEN [] ELSE [$all] END AS query
  CALL (query) {
    CALL db.index.fulltext.queryNodes($index_name, query) YIELD node
    WHERE node:Passage|Element
    RETURN count(*) AS nodes, avg(node.search_length) AS mean_length
  }
  RETURN {nodes: nodes, mean_length: mean_length}
} AS totals
