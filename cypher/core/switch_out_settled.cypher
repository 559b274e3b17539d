// Takes out of every reader's sight what a collection's own parts tie to nodes of a document.
// $collection, $document  its collection, and its id
// $graph                  the name of the graph that those nodes are of; '' for any
CYPHER 25
CALL () {
  MATCH (one:Passage {document: $document}) RETURN one
  UNION ALL
  MATCH (one:Element {document: $document}) RETURN one
}
WITH one
WHERE one.collection = $collection AND $graph IN ['', one.graph]
MATCH (one)<--(n:Passage|Element {document: ''})
WHERE n.collection = $collection AND $document <> ''
WITH DISTINCT n
REMOVE n:$(labels(n))
SET n:Retired
RETURN count(n) AS nodes
