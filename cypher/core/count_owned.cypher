// How many passages and embedded elements some graphs of a document have; with its text all go.
// $collection, $document  its collection, and its id; '' for what belongs to the collection itself
// $graphs                 their names
CYPHER 25
CALL () {
  MATCH (n:Passage {document: $document}) RETURN n
  UNION ALL
  MATCH (n:Element {document: $document})
  WHERE n.embedding IS NOT NULL OR n.embedding_2 IS NOT NULL
  RETURN n
}
WITH n
WHERE n.collection = $collection AND ('text' IN $graphs OR n.graph IN $graphs)
RETURN count(n) AS nodes
