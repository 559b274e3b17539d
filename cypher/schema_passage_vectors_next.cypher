// The vector index over the embeddings of the next space, beside the one in use and like it.
// $dimensions  of every embedding in the next space
CYPHER 25
CREATE VECTOR INDEX passage_vectors_next IF NOT EXISTS
FOR (n:Chunk|Summary|Detail) ON n.next_embedding
WITH [n.collection, n.document, n.kind, n.aspect, n.level]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimensions,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.type`: 'NONE',
  `vector.default_search_expansion_factor`: 3.0
}}
