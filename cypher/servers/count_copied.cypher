// How many nodes, embeddings and relationships a collection has.
// $collection  its name
// $embedding   the property of the embeddings
CYPHER 25
CALL () {
  MATCH (n:Document) WHERE n.collection = $collection AND n.title_key >= '' AND n.id >= '' RETURN n
  UNION ALL
  MATCH (n:Part) WHERE n.id STARTS WITH $collection + '/' RETURN n
  UNION ALL
  MATCH (n:Passage) WHERE n.collection = $collection AND n.kind >= '' AND n.document >= '' RETURN n
  UNION ALL
  MATCH (n:Element) WHERE n.collection = $collection AND n.kind >= '' AND n.document >= '' RETURN n
  UNION ALL
  MATCH (n:AnnotationSlice) WHERE n.collection = $collection RETURN n
  UNION ALL
  MATCH (n:Decision) WHERE n.id STARTS WITH $collection + '/' RETURN n
}
WITH n
WHERE n.collection = $collection
RETURN count(n) AS nodes, count(n[$embedding]) AS embeddings, sum(COUNT {
  (n)-->(m:Document|Part|Passage|Element) WHERE m.collection = $collection
}) AS relationships
