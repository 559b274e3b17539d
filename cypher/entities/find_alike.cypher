// The elements of a kind whose names and texts match some words best.
// $words       words in lower case, with spaces between them
// $kind        kind of elements: entity, relation, ...
// $limit       maximum number of rows
// $collection                      name of the collection
// $first_document, $last_document  the id of a document twice, or '' and the last character for all
CYPHER 25
CALL db.index.fulltext.queryNodes('element_texts', $words) YIELD node AS n, score
WHERE n:Element AND n.collection = $collection AND n.kind = $kind
  AND n.document >= $first_document AND n.document <= $last_document
WITH n, score
ORDER BY score DESC, n.id
LIMIT $limit
RETURN n.id AS id, score
ORDER BY score DESC, id
