// A picture of who is tied to whom in a book, to be seen in Neo4j Browser.
// No rows: no such document, or it has no graph of entities; `fabula build entities` makes one.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param type => 'person';
//   of what type they are; '' for any
// :param least => 2;
//   chunks that tell of both, at least
// :param limit => 100;
//   ties at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH path = (entity:Element&Entity {collection: $collection, document: document.id})
  -[tie:RELATES_TO]->(other:Entity {collection: $collection})
WHERE toLower($type) IN ['', toLower(entity.type)] AND toLower($type) IN ['', toLower(other.type)]
  AND tie.count >= $least
RETURN path
ORDER BY tie.count DESC, entity.name, other.name
LIMIT $limit
