// What a book tells up to a place, in order: the widest episodes that end before it.
// No rows: no such document, or it has no episodes; `fabula build episodes` writes them.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param until => 4611686018427387904;
//   the character up to which the book was read
// :param limit => 50;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (episode:Passage&Episode {collection: $collection, document: document.id})
WHERE episode.end <= $until
  AND NOT EXISTS { MATCH (episode)<-[:COMPRISES]-(above:Episode) WHERE above.end <= $until }
RETURN document.title AS title, episode.section AS section, episode.start AS start,
  episode.end AS end, episode.level AS level, episode.text AS text,
  CASE episode.by WHEN 'rules' THEN 'extract' ELSE 'a model' END AS by, episode.id AS id
ORDER BY start, id
LIMIT $limit
