// The vector index over all passages, with the properties that retrieval filters by inside it.
// Quantisation stays off: the server's default loses an eighth of the true top 10 at 256 dimensions.
// $dimensions  of every embedding in the graph
CYPHER 25
CREATE VECTOR INDEX passage_vectors IF NOT EXISTS
FOR (n:Chunk|Summary|Detail) ON n.embedding
WITH [n.collection, n.document, n.kind, n.aspect, n.level]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimensions,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.type`: 'NONE',
  `vector.default_search_expansion_factor`: 3.0
}}
