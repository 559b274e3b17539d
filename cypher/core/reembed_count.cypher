// How many passages and embedded elements a collection has, and how many of them have an embedding
// of its next space.
// $collection        its name
// $embedding, $next  the properties of the embeddings in use and of the next ones
CYPHER 25
CALL () {
  MATCH (n:Passage)
  WHERE n.collection = $collection AND n.kind >= '' AND n.document >= ''
  RETURN n
  UNION ALL
  MATCH (n:Element)
  WHERE n.collection = $collection AND n.kind >= '' AND n.document >= ''
    AND n[$embedding] IS NOT NULL
  RETURN n
}
RETURN count(*) AS nodes, count(n[$next]) AS embedded
