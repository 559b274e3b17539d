// The chunks that some nodes rest on, in text order.
// $collection  the collection to stay in
// $nodes       ids of passages and elements
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $nodes AS id
CALL (id) {
  MATCH (n:Passage {id: id}) RETURN n
  UNION ALL
  MATCH (n:Element {id: id}) RETURN n
}
WITH id, n
WHERE n.collection = $collection
UNWIND n.sources AS source
MATCH (chunk:Passage {id: source})
  USING INDEX SEEK chunk:Passage(id)
WHERE chunk.collection = $collection AND chunk.last <= $until
RETURN id, chunk.id AS chunk, chunk.document AS document, chunk.section AS section,
  chunk.start AS start, chunk.end AS end, chunk.text AS text
ORDER BY id, document, start
