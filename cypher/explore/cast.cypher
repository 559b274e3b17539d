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
MATCH (one:Element&Entity {collection: $collection, document: document.id})
WHERE toLower($type) IN ['', toLower(one.type)]
MATCH (one)-[said:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
WHERE chunk.last <= $until
WITH document, one, chunk, said
ORDER BY chunk.index
WITH document, one, collect(chunk) AS chunks, sum(said.count) AS counted,
  reduce(forms = [], names IN collect(said.names) | forms + names) AS printed
// Names and counts are those of the chunks that were read.
WITH document, one, chunks, CASE WHEN one.last <= $until THEN one.mentions ELSE counted END AS mentions,
  CASE WHEN one.last <= $until THEN one.names ELSE [form IN one.names WHERE form IN printed] END AS names,
  CASE WHEN one.last <= $until THEN one.degree ELSE COUNT {
    MATCH (one)<-[:SOURCE|TARGET]-(relation:Relation {collection: $collection})
    WHERE relation.since <= $until
  } END AS relations
WITH *, CASE WHEN one.last <= $until OR one.name IN names THEN one.name ELSE head(names) END AS name
WHERE name IS NOT NULL
RETURN document.title AS title, name, one.type AS type, mentions,
  size(chunks) AS chunks, relations, chunks[0].section AS first_section,
  chunks[-1].section AS last_section,
  [also IN names WHERE also <> name] AS also
ORDER BY mentions DESC, chunks DESC, name
LIMIT $limit
