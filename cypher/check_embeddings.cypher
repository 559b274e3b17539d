// Passages without an embedding, or with one of another dimension than the graph's or no length.
// $document  its id, or '' for all
// $limit     how many findings to return
CYPHER 25
OPTIONAL MATCH (space:EmbeddingSpace {id: 'graph'})
// While a graph is re-embedded, a passage has one model's embedding or the other's.
WITH [space.dimensions, coalesce(space.next_dimensions, space.dimensions)] AS dimensions
MATCH (passage:Chunk|Summary|Detail)
WHERE $document = '' OR passage.document = $document
WITH passage, dimensions, size(passage.embedding) AS size,
  reduce(square = 0.0, one IN passage.embedding | square + one * one) AS square
WITH passage, CASE
  WHEN dimensions[0] IS NULL THEN 'the graph does not record the model of its embeddings'
  WHEN size IS NULL THEN 'passages have no embedding'
  WHEN NOT size IN dimensions THEN 'passages have embeddings of another dimension than the graph'
  WHEN NOT coalesce(0 < square < 1e30, false) THEN 'passages have embeddings without a length'
END AS what
WHERE what IS NOT NULL
RETURN passage.document AS document, min(passage.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
