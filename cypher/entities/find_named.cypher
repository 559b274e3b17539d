// All entities of the documents that may have one with one of some names, with all their names: names
// are compared loosely here, and by titles and articles afterwards.
// $collection  name of the collection
// $document    id of a document, or '' for all
// $names       the names; the id of an entity is one
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (entity:Element {document: document.id})
WHERE entity:Entity AND entity.collection = $collection
WITH document, entity, [name IN $names | replace(toLower(name), '’', "'")] AS called,
  [form IN entity.names | replace(toLower(form), '’', "'")] AS forms
WITH document, collect(entity) AS entities, max(CASE
  WHEN any(name IN called WHERE name IN [entity.key, entity.id] OR any(form IN forms
    WHERE form CONTAINS name OR name CONTAINS form)) THEN 1 ELSE 0 END) AS named
WHERE named = 1
UNWIND entities AS entity
RETURN document.id AS document, document.title AS title, entity.id AS id, entity.key AS key,
  entity.name AS name, entity.type AS type, entity.names AS names, entity.counts AS counts
ORDER BY title, document, entity.mentions DESC, id
