// The chunks in which annotations begin, by the ids of these.
// $collection  the collection to stay in
// $ids         ids of annotations
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $ids AS id
MATCH (annotation:Element {id: id})
  USING INDEX SEEK annotation:Element(id)
WHERE annotation.collection = $collection AND annotation.last <= $until
RETURN id, annotation.sources[0] AS chunk
ORDER BY id
