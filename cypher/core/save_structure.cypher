// Gives a document other properties, and its nodes the names of their sections; returns how many
// documents these are, 1 or 0.
// $collection, $document  its collection, and its id
// $properties             properties of the document
// $rows                   {id, section} of each node that changes
CYPHER 25
MATCH (document:Document {id: $document})
WHERE document.collection = $collection
SET document += $properties, document.updated_at = datetime()
WITH document
CALL (document) {
  UNWIND $rows AS row
  CALL (row) {
    MATCH (n:Passage {id: row.id}) RETURN n
    UNION ALL
    MATCH (n:Element {id: row.id}) RETURN n
  }
  WITH document, row, n
  WHERE n.collection = document.collection
  SET n.section = row.section
}
RETURN count(document) AS documents
