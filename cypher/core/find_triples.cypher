// What a document's graphs state as a subject, a predicate and an object, each once.
// $collection, $document  its collection, and its id
CYPHER 25
MATCH (n:Element {document: $document})
WHERE n.collection = $collection
  AND n.subject IS NOT NULL AND n.predicate IS NOT NULL AND n.object IS NOT NULL
RETURN DISTINCT n.subject AS subject, n.predicate AS predicate, n.object AS object
ORDER BY subject, predicate, object
