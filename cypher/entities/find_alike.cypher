// The elements of a kind whose names and texts share most with some words.
// $words       lower-cased, nothing else
// $kind        of which kind, as entity, relation
// $limit       how many to return
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
CYPHER 25
CALL db.index.fulltext.queryNodes('element_texts', $words) YIELD node AS n, score
WHERE n:Element AND n.collection = $collection AND n.kind = $kind
  AND n.document >= $first_document AND n.document <= $last_document
WITH n, score
ORDER BY score DESC, n.id
LIMIT $limit
RETURN n.id AS id, score
ORDER BY score DESC, id
