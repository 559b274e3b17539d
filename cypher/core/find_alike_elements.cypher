// The elements of a kind whose names and texts match some words best.
// `pool_end` is the lowest score in a full pool: if a returned element has it, others that are as good
// may be missing.
// $words       the query for the words (fabula.store.search_index)
// $pool        how many of the best are compared, so that equal ones are ordered by id
// $kind        kind of elements: entity, relation, ...
// $limit       maximum number of rows
// $collection                      name of the collection
// $first_document, $last_document  the id of a document twice, or '' and the last character for all
CYPHER 25
CALL db.index.fulltext.queryNodes('element_texts', $words) YIELD node AS n, score
WHERE n:Element AND n.collection = $collection AND n.kind = $kind
  AND n.document >= $first_document AND n.document <= $last_document
WITH n, score
LIMIT $pool
WITH collect({n: n, score: score}) AS pool
WITH pool, CASE size(pool) WHEN $pool THEN pool[-1].score END AS pool_end
UNWIND pool AS row
WITH row.n AS n, row.score AS score, pool_end
ORDER BY score DESC, n.id
LIMIT $limit
RETURN n.id AS id, score, pool_end
ORDER BY score DESC, id
