// Who and what a book is about, by how much of it they are in, with all their names.
// No rows: no such document, or it has no graph of entities; `fabula build entities` makes one.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param type => '';
//   of one type, as person or place; '' for all
// :param limit => 30;
//   rows at most
// :param until => 4611686018427387904;
//   how many characters the reader has read, or a place as 'Stave Two'; the default is all
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (entity:Element&Entity {collection: $collection, document: document.id})
WHERE toLower($type) IN ['', toLower(entity.type)]
MATCH (entity)-[said:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
WHERE chunk.last <= $until
WITH document, entity, chunk, said
ORDER BY chunk.index
WITH document, entity, collect(chunk) AS chunks, sum(said.count) AS counted,
  reduce(forms = [], names IN collect(said.names) | forms + names) AS printed
// Names and counts are those of the chunks that were read.
WITH document, entity, chunks, CASE WHEN entity.last <= $until THEN entity.mentions ELSE counted END AS mentions,
  CASE WHEN entity.last <= $until THEN entity.names ELSE [form IN entity.names WHERE form IN printed] END AS names,
  CASE WHEN entity.last <= $until THEN entity.degree ELSE COUNT {
    MATCH (entity)<-[:SOURCE|TARGET]-(relation:Relation {collection: $collection})
    WHERE relation.since <= $until
  } END AS relations
WITH *, CASE WHEN entity.last <= $until OR entity.name IN names THEN entity.name ELSE head(names) END AS name
WHERE name IS NOT NULL
RETURN document.title AS title, name, entity.type AS type, mentions,
  size(chunks) AS chunks, relations, chunks[0].section AS first_section,
  chunks[-1].section AS last_section,
  [also IN names WHERE also <> name] AS also
ORDER BY mentions DESC, chunks DESC, name
LIMIT $limit
