// Takes an owner's nodes out of every index and every reader's sight.
// $collection, $graph, $document  the owner; '' for what belongs to the collection itself
CYPHER 25
CALL () {
  MATCH (n:Document {id: $document}) WHERE $graph = 'text' RETURN n
  UNION ALL
  MATCH (n:Part {id: $collection + '/' + $graph + '/' + $document}) RETURN n
  UNION ALL
  MATCH (n:Passage {document: $document}) WHERE n.graph = $graph RETURN n
  UNION ALL
  MATCH (n:Element {document: $document}) WHERE n.graph = $graph RETURN n
}
WITH n
WHERE n.collection = $collection
REMOVE n:$(labels(n))
SET n:Retired
RETURN count(n) AS nodes, toString(max(n.created_at)) AS created_at
