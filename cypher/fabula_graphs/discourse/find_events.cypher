// The events of a collection's documents in text order, with the entities that people and places are.
// $collection  its name
// $document    a document's id, or '' for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (event:Element {document: document.id, kind: 'event'})
WHERE event.collection = $collection AND event.last <= $until
RETURN event.id AS id, document.id AS document, document.title AS title,
  document.language AS language, event.sources[0] AS chunk, event.text AS text,
  event.section AS section, event.start AS start, event.end AS end,
  event {.who, .predicate, .what, .when, .where, .why, .how} AS slots,
  COLLECT {
    MATCH (event)-[slot:WHO|WHERE]->(:Term)-[:IS]->(entity:Entity {collection: $collection})
    // An entity is left out whose usual name is only printed later.
    WHERE entity.last <= $until OR EXISTS {
      MATCH (entity)-[part:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
      WHERE chunk.last <= $until AND entity.name IN part.names
    }
    RETURN {slot: toLower(type(slot)), id: entity.id, name: entity.name}
    ORDER BY type(slot), entity.id
  } AS entities
ORDER BY title, document, start, event.ordinal, id
