// Gives a document its sections, and its nodes the paths of theirs.
// $collection, $document  its collection, and its id
// $properties             the sections, as properties of the document
// $rows                   {id, section} of each node
CYPHER 25
MATCH (document:Document {id: $document})
WHERE document.collection = $collection
SET document += $properties
WITH document
UNWIND $rows AS row
CALL (row) {
  MATCH (n:Passage {id: row.id}) RETURN n
  UNION ALL
  MATCH (n:Element {id: row.id}) RETURN n
}
WITH document, row, n
WHERE n.collection = document.collection
SET n.section = row.section
