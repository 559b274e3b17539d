// The embeddings of some nodes.
// $collection  the collection to stay in
// $nodes       ids of passages and elements
// $embedding   the property of the collection's embeddings
// $dimensions  how many numbers they have
CYPHER 25
UNWIND $nodes AS id
CALL (id) {
  MATCH (n:Passage {id: id}) RETURN n
  UNION ALL
  MATCH (n:Element {id: id}) RETURN n
}
WITH id, n
WHERE n.collection = $collection AND n[$embedding] IS NOT NULL
RETURN id, vector(n[$embedding], $dimensions, FLOAT32) AS vector
