// What two of a book's people are to each other, part by part: what each section says of both.
// No rows: no such document, nobody of that name in it, or no graph of entities; `fabula build
// entities` makes one, and `cast` lists the names.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param first => 'Scrooge';
//   one of its names, either case
// :param second => 'Marley';
//   another's name
// :param limit => 100;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (entity:Element&Entity {collection: $collection, document: document.id})
WITH document, entity, replace(replace(toLower($first), '’', "'"), '.', '') AS first,
  replace(replace(toLower($second), '’', "'"), '.', '') AS second
WHERE entity.key = first
  OR any(name IN entity.names WHERE replace(replace(toLower(name), '’', "'"), '.', '') = first)
MATCH (entity)<-[:SOURCE|TARGET]-(relation:Element&Relation {collection: $collection})
  -[:SOURCE|TARGET]->(other:Entity {collection: $collection})
WHERE other <> entity AND (other.key = second
  OR any(name IN other.names WHERE replace(replace(toLower(name), '’', "'"), '.', '') = second))
MATCH (relation)-[said:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
WITH document, entity, other, chunk, said
ORDER BY chunk.index
WITH document, entity, other, chunk.section AS section, min(chunk.index) AS place,
  count(chunk) AS chunks, collect(said.said) AS said, collect(said.keywords) AS words
RETURN document.title AS title, entity.name AS first, other.name AS second,
  CASE section WHEN '' THEN '(no heading)' ELSE section END AS section, chunks,
  COLLECT {
    UNWIND words AS some
    UNWIND some AS word
    WITH word, count(*) AS times
    ORDER BY times DESC, word
    LIMIT 5
    RETURN word
  } AS keywords, said[0] AS said
ORDER BY place, first, second
LIMIT $limit
