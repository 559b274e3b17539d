// Hides an owner's nodes from all readers.
// $collection, $graph, $document  the owner; '' for what belongs to the collection itself
CYPHER 25
CALL () {
  MATCH (n:Document {id: $document}) WHERE $graph = 'text' RETURN n
  UNION ALL
  MATCH (n:Part {id: $collection + '/' + $graph + '/' + $document}) RETURN n
  UNION ALL
  WITH $document AS document WHERE document <> ''
  MATCH (n:Passage {document: document}) WHERE n.graph = $graph RETURN n
  UNION ALL
  WITH $document AS document WHERE document <> ''
  MATCH (n:Element {document: document}) WHERE n.graph = $graph RETURN n
  UNION ALL
  // What belongs to a collection itself is found by the collection, as all others' has no document.
  WITH $document AS document WHERE document = ''
  MATCH (n:Passage) WHERE n.collection = $collection AND n.kind >= '' AND n.document = document
    AND n.graph = $graph
  RETURN n
  UNION ALL
  WITH $document AS document WHERE document = ''
  MATCH (n:Element) WHERE n.collection = $collection AND n.kind >= '' AND n.document = document
    AND n.graph = $graph
  RETURN n
}
WITH n
WHERE n.collection = $collection
// All are found before the first loses what it or another one is found by.
WITH collect(n) AS found
UNWIND found AS n
// Nothing is deleted here: removing nodes from the indexes would make readers wait.
REMOVE n:$([label IN labels(n) WHERE NOT label =~ '(Passage|Element)(Text|[0-9]+)'])
SET n:Retired
RETURN count(n) AS nodes, toString(max(n.created_at)) AS created_at
