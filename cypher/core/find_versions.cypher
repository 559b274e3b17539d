// The revision of a collection, and if that is new: how many parts each of some graphs has in the
// collection or in a document, and when they were written. The row of a graph changes whenever a part
// came, went or was replaced. A graph without parts has no row. The revision is of the times at which
// the collection's writers took its locks, so that parts need not be read again while it is the same.
// $collection  its name
// $document    its id, or '' for all
// $graphs      their names
// $locks       the beginning of the ids of the collection's locks
// $revision    the revision whose parts the caller knows; '' for none
CYPHER 25
OPTIONAL MATCH (lock:Lock)
WHERE lock.id STARTS WITH $locks
WITH [count(lock), max(lock.taken_at.epochMillis), sum(lock.taken_at.epochMillis),
  sum(lock.taken_at.nanosecond)] AS times
WITH reduce(text = '', number IN times | text + '/' + coalesce(toString(number), '')) AS revision
RETURN revision, COLLECT {
  UNWIND CASE revision WHEN $revision THEN [] ELSE $graphs END AS graph
  MATCH (part:Part)
  WHERE part.id STARTS WITH $collection + '/' + graph + '/' + $document
    AND part.collection = $collection AND part.graph = graph
  WITH graph, count(part) AS parts, max(part.updated_at.epochMillis) AS latest,
    sum(part.updated_at.epochMillis) AS millis, sum(part.updated_at.nanosecond) AS nanos
  ORDER BY graph
  RETURN {graph: graph, parts: parts, latest: latest, millis: millis, nanos: nanos}
} AS versions
