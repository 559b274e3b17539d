// Hides from all readers what a collection's own parts say about a document: nodes with an edge to its
// nodes, and nodes that were made from it, because edges go when a document is replaced.
// $collection, $document  its collection, and its id
// $graph                  the graph that they were made from; '' for any
CYPHER 25
CALL () {
  CALL () {
    MATCH (one:Passage {document: $document}) RETURN one
    UNION ALL
    MATCH (one:Element {document: $document}) RETURN one
  }
  WITH one
  WHERE one.collection = $collection AND $graph IN ['', one.graph]
  MATCH (one)<--(n:Passage|Element {document: ''})
  RETURN n
  UNION ALL
  CALL () {
    MATCH (n:Passage)
    WHERE n.collection = $collection AND n.kind >= '' AND n.document = ''
    RETURN n
    UNION ALL
    MATCH (n:Element)
    WHERE n.collection = $collection AND n.kind >= '' AND n.document = ''
    RETURN n
  }
  WITH n
  WHERE any(part IN coalesce(n.of, []) WHERE part ENDS WITH '/' + $document
    AND $graph IN ['', split(part, '/')[-2]])
  RETURN n
}
WITH n
WHERE n.collection = $collection AND $document <> ''
WITH DISTINCT n
// All are found before the first loses what it or another one is found by.
WITH collect(n) AS found
UNWIND found AS n
// Nothing is deleted here: removing nodes from the indexes would make readers wait.
REMOVE n:$([label IN labels(n) WHERE NOT label =~ '(Passage|Element)(Text|[0-9]+)'])
SET n:Retired
RETURN count(n) AS nodes
