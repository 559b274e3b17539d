// Where one of a book's people or places stands in the text: mentions and chunks by section.
// No rows: no such document, nobody of that name in it, or no graph of entities; `fabula build
// entities` makes one, and `cast` lists the names.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param name => 'Scrooge';
//   one of its names, either case, with or without full stops
// :param limit => 100;
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
WITH document, entity, replace(replace(toLower($name), '’', "'"), '.', '') AS called
WHERE entity.key = called
  OR any(name IN entity.names WHERE replace(replace(toLower(name), '’', "'"), '.', '') = called)
MATCH (entity)-[said:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
WHERE chunk.last <= $until
WITH document, entity, called, collect({said: said, chunk: chunk}) AS places,
  reduce(forms = [], names IN collect(said.names) | forms + names) AS printed
// A name that is printed later finds nobody yet, and is not shown.
WHERE entity.last <= $until
  OR any(name IN printed WHERE replace(replace(toLower(name), '’', "'"), '.', '') = called)
WITH document, places,
  CASE WHEN entity.last <= $until OR entity.name IN printed THEN entity.name ELSE head(printed) END AS name
UNWIND places AS place_of
WITH document, name, place_of.said AS said, place_of.chunk AS chunk
WITH document, name, chunk.section AS section, min(chunk.index) AS place,
  count(chunk) AS chunks, sum(said.count) AS mentions, min(chunk.start) AS first,
  max(chunk.end) AS last
RETURN document.title AS title, name,
  CASE section WHEN '' THEN '(no heading)' ELSE section END AS section, mentions, chunks,
  first, last
ORDER BY name, place
LIMIT $limit
