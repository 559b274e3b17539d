// The section of each chunk of a document, and where it begins and ends, in text order.
// $collection, $document  its collection, and its id
CYPHER 25
MATCH (chunk:Passage {collection: $collection, kind: 'chunk', document: $document})
RETURN chunk.section AS section, chunk.start AS start, chunk.end AS end
ORDER BY start
