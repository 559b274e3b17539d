// The places of a book, and who is named together with each.
// No rows: no such document, or it has no graph of entities; `fabula build entities` makes one.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param type => 'place';
//   what such a type is called: with others than the narrative ones, as location or geo
// :param limit => 30;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (place:Element&Entity {collection: $collection, document: document.id})
WHERE toLower(place.type) = toLower($type)
MATCH (place)-[:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
OPTIONAL MATCH (chunk)<-[:FROM_CHUNK]-(who:Element&Entity {collection: $collection})
  WHERE toLower(who.type) = 'person'
WITH document, place, who, count(DISTINCT chunk) AS times
ORDER BY times DESC, who.name
RETURN document.title AS title, place.name AS name, place.mentions AS mentions,
  collect(who.name)[..5] AS who
ORDER BY mentions DESC, name
LIMIT $limit
