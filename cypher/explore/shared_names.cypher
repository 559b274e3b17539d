// People and places that several books of a collection have by the same name.
// No rows: no two documents of the collection with a graph of entities share a name; `fabula build
// entities` makes the graph.
// :param collection => 'default';
//   the collection to stay in
// :param limit => 30;
//   rows at most
CYPHER 25
MATCH (entity:Element&Entity {collection: $collection, kind: 'entity'})
WHERE entity.document >= ''
MATCH (document:Document {collection: $collection, id: entity.document})
WITH entity.key AS key, entity, document
ORDER BY entity.mentions DESC, document.title
WITH key, collect(entity) AS those, collect(DISTINCT document.title) AS titles,
  count(DISTINCT document.id) AS books
WHERE books > 1
RETURN those[0].name AS name, COLLECT { UNWIND those AS entity RETURN DISTINCT entity.type } AS types,
  reduce(all = 0, entity IN those | all + entity.mentions) AS mentions, titles
ORDER BY books DESC, mentions DESC, name
LIMIT $limit
