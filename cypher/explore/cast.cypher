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
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (one:Element&Entity {collection: $collection, document: document.id})
WHERE toLower($type) IN ['', toLower(one.type)]
MATCH (one)-[:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
WITH document, one, chunk
ORDER BY chunk.index
WITH document, one, collect(chunk) AS chunks
RETURN document.title AS title, one.name AS name, one.type AS type, one.mentions AS mentions,
  size(chunks) AS chunks, one.degree AS relations, chunks[0].section AS first_section,
  chunks[-1].section AS last_section,
  [also IN one.names WHERE also <> one.name] AS also
ORDER BY mentions DESC, chunks DESC, name
LIMIT $limit
