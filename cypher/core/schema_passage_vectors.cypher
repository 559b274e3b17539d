// The vector index of one embedding space's dimensions and slot, with the properties that retrieval
// filters by inside it. The program puts the space's own names in the place of passage_vectors_256,
// Passage256 and embedding: nothing else varies.
// Quantisation stays off: the server's default loses an eighth of the true top 10 at 256 dimensions.
// $dimensions  of every embedding in it
CYPHER 25
CREATE VECTOR INDEX passage_vectors_256 IF NOT EXISTS
FOR (n:Passage256) ON n.embedding
WITH [n.collection, n.document, n.kind, n.aspect, n.level, n.last]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimensions,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.type`: 'NONE',
  `vector.default_search_expansion_factor`: 3.0
}}
