// How many passages a collection has, and how many of them have an embedding of its next space.
// $collection  its name
// $next        the property that the next embeddings are in
CYPHER 25
MATCH (passage:Passage)
WHERE passage.collection = $collection AND passage.kind >= '' AND passage.document >= ''
RETURN count(*) AS passages, count(passage[$next]) AS embedded
