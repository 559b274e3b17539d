// How many nodes a document has by graph and kind.
// $collection, $document  its collection, and its id
CYPHER 25
CALL () {
  MATCH (n:Passage {document: $document}) RETURN n
  UNION ALL
  MATCH (n:Element {document: $document}) RETURN n
}
WITH n
WHERE n.collection = $collection AND NOT n:Replies
RETURN n.graph AS graph, n.kind AS kind, count(*) AS nodes
ORDER BY graph, kind
