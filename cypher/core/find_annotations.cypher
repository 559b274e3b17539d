// Layers of annotations of a document, in slices of JSON, in order.
// $collection, $document  its collection, and its id
// $layer                  the name of a layer, or '' for all
CYPHER 25
MATCH (slice:AnnotationSlice)
WHERE slice.id STARTS WITH $document + '/' AND slice.collection = $collection
  AND $layer IN ['', slice.layer]
RETURN slice.layer AS layer, slice.content AS content
ORDER BY layer, slice.number
