// Passages without an embedding, and passages and elements with one that the vector index leaves out.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Passage|Element)
WHERE ($document = '' OR n.document = $document) AND ($collection = '' OR n.collection = $collection)
  AND (n:Passage OR n.embedding IS NOT NULL OR n.embedding_2 IS NOT NULL
    OR any(label IN labels(n) WHERE label =~ 'Element\\d+'))
OPTIONAL MATCH (space:Collection {name: n.collection})
WITH n, space.dimensions AS dimensions,
  CASE WHEN n:Passage THEN 'Passage' ELSE 'Element' END AS label,
  CASE space.slot WHEN 2 THEN n.embedding_2 ELSE n.embedding END AS embedding
WITH n, dimensions, label, toLower(label) + 's ' AS nodes, size(embedding) AS size,
  reduce(square = 0.0, one IN embedding | square + one * one) AS square
WITH n, CASE
  WHEN dimensions IS NULL THEN 'the graph does not record the model of their embeddings'
  WHEN size IS NULL THEN nodes + 'have no embedding'
  WHEN size <> dimensions
    THEN nodes + 'have embeddings of another dimension than their collection'
  WHEN NOT coalesce(0 < square < 1e30, false) THEN nodes + 'have embeddings without a length'
  WHEN NOT label + dimensions IN labels(n)
    THEN nodes + 'lack the label of their dimensions, by which they are found'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
