// Deletes layers of annotations of a document.
// $collection, $document  its collection, and its id
// $layer                  the name of the layer, or '' for all
CYPHER 25
MATCH (slice:AnnotationSlice)
WHERE slice.id STARTS WITH $document + '/' AND slice.collection = $collection
  AND $layer IN ['', slice.layer]
DETACH DELETE slice
