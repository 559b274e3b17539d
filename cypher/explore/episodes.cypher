// The episodes of a book on one level, in order, with how many chunks and episodes each comprises.
// No rows: no such document, or it has no episodes; `fabula build episodes` writes them.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param level => 1;
//   the level; episodes without one of that level above them are shown, too
// :param limit => 100;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (episode:Passage&Episode {collection: $collection, document: document.id})
WHERE episode.level <= $level
  AND NOT EXISTS { MATCH (episode)<-[:COMPRISES]-(above:Episode) WHERE above.level <= $level }
RETURN document.title AS title, episode.level AS level, episode.section AS section,
  episode.start AS start, episode.end AS end, size(episode.sources) AS chunks,
  COUNT { (episode)-[:COMPRISES]->(:Episode) } AS episodes, episode.text AS text, episode.id AS id
ORDER BY start, id
LIMIT $limit
