// Of some passages and elements, those that a reader with a place may be shown.
// $collection      the collection to stay in
// $first_document  the document that the reader reads
// $ids             their ids
// $until           how many characters of the document the reader has read
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Passage {id: id}) RETURN n
  UNION ALL
  MATCH (n:Element {id: id}) RETURN n
}
WITH n
WHERE n.collection = $collection AND n.document = $first_document AND n.since <= $until
RETURN n.id AS id
ORDER BY id
