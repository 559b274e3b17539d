// The headings of a document's sections, in the order of the text.
// $collection  its collection
// $document    its id
CYPHER 25
MATCH (:Document {collection: $collection, id: $document})
MATCH (n:Section {collection: $collection, document: $document})
RETURN n.section AS heading
ORDER BY n.start
