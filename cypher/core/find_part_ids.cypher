// The ids of a part's nodes, in order.
// $collection, $graph, $document  its owner
// $replies  whether those that keep replies of models, too
CYPHER 25
CALL () {
  WITH $document AS document WHERE document <> ''
  MATCH (n:Passage {document: document}) RETURN n
  UNION ALL
  WITH $document AS document WHERE document <> ''
  MATCH (n:Element {document: document}) RETURN n
  UNION ALL
  // What belongs to a collection itself is found by the collection, as all others' has no document.
  WITH $document AS document WHERE document = ''
  MATCH (n:Passage) WHERE n.collection = $collection AND n.kind >= '' AND n.document = document
  RETURN n
  UNION ALL
  WITH $document AS document WHERE document = ''
  MATCH (n:Element) WHERE n.collection = $collection AND n.kind >= '' AND n.document = document
  RETURN n
}
WITH n
WHERE n.collection = $collection AND n.graph = $graph AND ($replies = true OR NOT n:Replies)
RETURN n.id AS id
ORDER BY id
