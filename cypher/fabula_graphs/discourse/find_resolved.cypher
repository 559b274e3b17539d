// The entities that people and places of events are, with all their names, and the chunks that have
// them by that value.
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (term:Element {collection: $collection, kind: 'term'})
WHERE term.document >= $first_document AND term.document <= $last_document AND term.since <= $until
MATCH (term)-[:IS]->(entity:Entity {collection: $collection})
WHERE entity.since <= $until
RETURN term.slot AS slot, term.key AS key, entity.id AS entity, entity.names AS names,
  term.sources AS chunks
ORDER BY slot, key, entity
