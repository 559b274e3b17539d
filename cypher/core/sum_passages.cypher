// How many passages a collection has, those of its own graphs included, and their tokens.
// $collection  its name
CYPHER 25
MATCH (passage:Passage)
WHERE passage.collection = $collection AND passage.kind >= '' AND passage.document >= ''
RETURN count(*) AS passages, coalesce(sum(passage.tokens), 0) AS tokens
