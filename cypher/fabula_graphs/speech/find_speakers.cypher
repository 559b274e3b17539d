// Who speaks in a collection's documents, with all names by which the reader may know them.
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (quotation:Element {collection: $collection, kind: 'quotation'})
WHERE quotation.document >= $first_document AND quotation.document <= $last_document
  AND quotation.speaker <> '' AND quotation.last <= $until
  AND NOT coalesce(quotation.doubtful, false)
OPTIONAL MATCH (quotation)-[:SPOKEN_BY]->(entity:Entity {collection: $collection})
WITH quotation.speaker AS speaker, CASE
  WHEN entity IS NULL THEN [quotation.speaker]
  WHEN entity.last <= $until THEN [quotation.speaker] + entity.names
  ELSE COLLECT {
    MATCH (entity)-[part:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
    WHERE chunk.last <= $until
    UNWIND part.names AS name
    RETURN DISTINCT name ORDER BY name
  } END AS names
RETURN DISTINCT speaker, names
ORDER BY speaker, names
