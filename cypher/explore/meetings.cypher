// Who meets whom: pairs that one passage names, where first, where last, and in how many chunks.
// No rows: no such document, or it has no graph of entities; `fabula build entities` makes one.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param type => 'person';
//   of what type both are; '' for any
// :param limit => 30;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (entity:Element&Entity {collection: $collection, document: document.id})
  <-[:SOURCE]-(relation:Element&Relation {collection: $collection})-[:TARGET]->(other:Entity {collection: $collection})
WHERE toLower($type) IN ['', toLower(entity.type)] AND toLower($type) IN ['', toLower(other.type)]
MATCH (relation)-[:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
WITH document, entity, other, relation, chunk
ORDER BY chunk.index
WITH document, entity, other, relation, collect(chunk) AS chunks
RETURN document.title AS title, entity.name AS one, other.name AS other, size(chunks) AS chunks,
  chunks[0].section AS first_section, chunks[0].start AS first,
  chunks[-1].section AS last_section, chunks[-1].start AS last, relation.keywords[..5] AS keywords
ORDER BY chunks DESC, one, other
LIMIT $limit
