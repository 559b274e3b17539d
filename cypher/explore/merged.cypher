// Names that were taken for one: each form, how often it stands in the text, and why it was joined.
// No rows: no such document, it has no graph of entities, or nobody in it has two names; `fabula
// build entities` makes the graph.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param limit => 100;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (entity:Element&Entity {collection: $collection, document: document.id})
WHERE size(entity.names) > 1
UNWIND range(0, size(entity.names) - 1) AS place
WITH document, entity, entity.names[place] AS form, entity.counts[place] AS times,
  entity.merged_by[place] AS why
WHERE form <> entity.name
RETURN document.title AS title, entity.name AS name, entity.type AS type, form, times, why
ORDER BY entity.mentions DESC, name, times DESC, form
LIMIT $limit
