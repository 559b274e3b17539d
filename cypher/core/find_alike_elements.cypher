// The elements of a kind whose names and texts match some words, nearly in order.
// Each row has the revision of the collection as well, as core/count_words returns it.
// $words       the query for the words (fabula.store.search_index)
// $kind        kind of elements: entity, relation, ...
// $pool        maximum number of rows
// $reach       how many elements are read for that, in the order of the index
// $collection                      name of the collection
// $locks       the beginning of the ids of its locks
// $first_document, $last_document  the id of a document twice, or '' and the last character for all
// $until       how many characters of the document the reader has read
CYPHER 25
CALL () {
  MATCH (lock:Lock)
  WHERE lock.id STARTS WITH $locks
  WITH [count(lock), max(lock.taken_at.epochMillis), sum(lock.taken_at.epochMillis),
    sum(lock.taken_at.nanosecond)] AS times
  RETURN reduce(text = '', number IN times | text + '/' + coalesce(toString(number), '')) AS revision
}
CALL db.index.fulltext.queryNodes('element_texts', $words) YIELD node AS n, score
WHERE n:Element AND n.collection = $collection AND n.kind = $kind
  AND n.document >= $first_document AND n.document <= $last_document
  AND n.since <= $until
WITH n, score, revision
LIMIT $reach
WITH n, score, revision
ORDER BY score DESC, n.id
LIMIT $pool
RETURN n.id AS id, score AS alike, n.search_text AS words, n.search_length AS length, revision
ORDER BY alike DESC, id
