// The elements of a kind whose names and texts match some words, nearly in order.
// Each row has the revision of the collection as well, as core/count_words returns it.
// $words       the query for the words (fabula.store.search_index)
// $kind        kind of elements: entity, relation, ...
// $pool        maximum number of rows
// $reach       how many elements are read for that, in the order of the index
// $collection                      name of the collection
// $first_document, $last_document  the id of a document twice, or '' and the last character for all
CYPHER 25
CALL () {
  MATCH (part:Part)
  WHERE part.id STARTS WITH $collection + '/' AND part.collection = $collection
  WITH [count(part), max(part.updated_at.epochMillis), sum(part.updated_at.epochMillis),
    sum(part.updated_at.nanosecond)] AS parts
  RETURN reduce(text = '', number IN parts | text + '/' + coalesce(toString(number), '')) AS revision
}
CALL db.index.fulltext.queryNodes('element_texts', $words) YIELD node AS n, score
WHERE n:Element AND n.collection = $collection AND n.kind = $kind
  AND n.document >= $first_document AND n.document <= $last_document
WITH n, score, revision
LIMIT $reach
WITH n, score, revision
ORDER BY score DESC, n.id
LIMIT $pool
RETURN n.id AS id, score AS alike, n.search_text AS words, n.search_length AS length, revision
ORDER BY alike DESC, id
