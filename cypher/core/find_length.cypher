// How many characters the text of a document has.
// $collection, $document  its collection, and its id
CYPHER 25
MATCH (chunk:Passage {collection: $collection, kind: 'chunk', document: $document})
RETURN coalesce(max(chunk.end), 0) AS length
