// The layers of annotations of a collection's documents, without their annotations.
// $collection  its name
// $document    a document's id, or '' for all
CYPHER 25
MATCH (slice:AnnotationSlice)
WHERE slice.id STARTS WITH $document AND slice.collection = $collection
  AND $document IN ['', slice.document] AND slice.number = 0
RETURN slice {
  name: slice.layer, .document, .source, .format, .by, at: toString(slice.at), .text, .count,
  .digest
} AS layer
ORDER BY slice.document, slice.layer
