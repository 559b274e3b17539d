// The fingerprints of a document's parts.
// $collection, $document  its collection, and its id
CYPHER 25
MATCH (part:Part)-[:PART_OF]->(document:Document {id: $document})
WHERE part.collection = $collection AND document.collection = $collection
RETURN part.graph AS graph, part.fingerprint AS fingerprint
