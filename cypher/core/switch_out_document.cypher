// Takes a document and all graphs of it out of every index and every reader's sight.
// $collection, $document  its collection, and its id
CYPHER 25
MATCH (document:Document {id: $document})
WHERE document.collection = $collection
CALL (document) {
  RETURN document AS n
  UNION ALL
  MATCH (document)<-[:PART_OF]-(n:Part) RETURN n
  UNION ALL
  MATCH (n:Passage {document: document.id}) RETURN n
  UNION ALL
  MATCH (n:Element {document: document.id}) RETURN n
}
REMOVE n:$(labels(n))
SET n:Retired
RETURN count(n) AS nodes
