// The vector index of a space's embedded elements, which only their graph's own modes ask; all else
// is as with passages. The program puts the space's own names in the place of element_vectors_256,
// Element256 and embedding: nothing else varies.
// $dimensions  of every embedding in it
CYPHER 25
CREATE VECTOR INDEX element_vectors_256 IF NOT EXISTS
FOR (n:Element256) ON n.embedding
WITH [n.collection, n.document, n.kind, n.aspect, n.level, n.since]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimensions,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.type`: 'NONE',
  `vector.default_search_expansion_factor`: 3.0
}}
