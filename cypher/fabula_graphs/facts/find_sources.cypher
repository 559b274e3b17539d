// The chunks that some facts rest on.
// $collection  the collection to stay in
// $nodes       ids of facts
CYPHER 25
UNWIND $nodes AS id
MATCH (n:Element {id: id})
  USING INDEX SEEK n:Element(id)
WHERE n.collection = $collection
RETURN id, n.sources AS sources
ORDER BY id
