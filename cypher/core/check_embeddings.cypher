// Passages without an embedding, or with one that the vector index leaves out.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (passage:Passage)
WHERE ($document = '' OR passage.document = $document)
  AND ($collection = '' OR passage.collection = $collection)
OPTIONAL MATCH (space:Collection {name: passage.collection})
WITH passage, space.dimensions AS dimensions,
  CASE space.slot WHEN 2 THEN passage.embedding_2 ELSE passage.embedding END AS embedding
WITH passage, dimensions, size(embedding) AS size,
  reduce(square = 0.0, one IN embedding | square + one * one) AS square
WITH passage, CASE
  WHEN dimensions IS NULL THEN 'the graph does not record the model of their embeddings'
  WHEN size IS NULL THEN 'passages have no embedding'
  WHEN size <> dimensions THEN 'passages have embeddings of another dimension than their collection'
  WHEN NOT coalesce(0 < square < 1e30, false) THEN 'passages have embeddings without a length'
  WHEN NOT 'Passage' + dimensions IN labels(passage)
    THEN 'passages lack the label of their dimensions, by which they are found'
END AS what
WHERE what IS NOT NULL
RETURN passage.document AS document, min(passage.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
