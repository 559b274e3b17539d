// An entity of a document, with its names and why they are its names.
// $collection, $document  its collection, and the id of its document
// $id                     its id
CYPHER 25
MATCH (entity:Element {id: $id})
WHERE entity:Entity AND entity.collection = $collection AND entity.document = $document
RETURN entity.id AS id, entity.name AS name, entity.key AS key, entity.type AS type,
  entity.text AS text, entity.names AS names, entity.counts AS counts,
  entity.merged_by AS merged_by, entity.mentions AS mentions, entity.degree AS relations
