// The episodes of a document that end by a character, in text order, the highest level first.
// $collection  its collection
// $document    its id
// $until       the character; no episode that rests on later text is returned
CYPHER 25
MATCH (document:Document {id: $document})
  USING INDEX SEEK document:Document(id)
WHERE document.collection = $collection
MATCH (episode:Passage)
  USING INDEX SEEK episode:Passage(collection, kind, document)
WHERE episode.collection = $collection AND episode.kind = 'episode'
  AND episode.document = $document AND episode.end <= $until
RETURN episode.id AS id, episode.document AS document, document.title AS title,
  document.language AS language, episode.level AS level, episode.section AS section,
  episode.start AS start, episode.end AS end, episode.text AS text, episode.tokens AS tokens,
  episode.by AS by, COLLECT {
    MATCH (episode)<-[:COMPRISES]-(above:Passage)
    WHERE above.collection = $collection
    RETURN above.id LIMIT 1
  } AS above
ORDER BY start, level DESC, id
