// Who speaks in a collection's documents, with the names of their entities.
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
CYPHER 25
MATCH (quotation:Element {collection: $collection, kind: 'quotation'})
WHERE quotation.document >= $first_document AND quotation.document <= $last_document
  AND quotation.speaker <> ''
OPTIONAL MATCH (quotation)-[:SPOKEN_BY]->(entity:Entity {collection: $collection})
WITH quotation.speaker AS speaker, coalesce(entity.names, []) AS names
RETURN DISTINCT speaker, names
ORDER BY speaker, names
