// How many nodes of a collection each query finds in a full-text index, and the revision of the
// collection, which changes whenever a part of it comes, goes or is replaced.
// $collection  its name
// $index       the full-text index
// $revision    the revision that the caller has counts of; '' for none
// $missing     the queries that it has no counts of
// $queries     all queries; all are counted if the revision is another one
CYPHER 25
MATCH (part:Part)
WHERE part.id STARTS WITH $collection + '/' AND part.collection = $collection
WITH [count(part), max(part.updated_at.epochMillis), sum(part.updated_at.epochMillis),
  sum(part.updated_at.nanosecond)] AS parts
WITH reduce(text = '', number IN parts | text + '/' + coalesce(toString(number), '')) AS revision
WITH revision, CASE revision WHEN $revision THEN $missing ELSE $queries END AS queries
RETURN revision, COLLECT {
  UNWIND queries AS query
  CALL (query) {
    CALL db.index.fulltext.queryNodes($index, query) YIELD node
    WHERE node:Passage|Element
    RETURN count(*) AS nodes
  }
  RETURN {query: query, nodes: nodes}
} AS counts
