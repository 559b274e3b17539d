// Keeps slices of a layer of annotations, and returns how many; none if the document is gone.
// $collection, $document  the collection, and the document's id
// $slices  {id, properties} of each; the properties of the layer are in all of its slices
CYPHER 25
MATCH (document:Document {id: $document})
WHERE document.collection = $collection
UNWIND $slices AS row
CREATE (slice:AnnotationSlice {id: row.id, collection: $collection, document: $document})
SET slice += row.properties, slice.at = datetime()
RETURN count(slice) AS slices
