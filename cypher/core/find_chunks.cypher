// The chunk of each passage that rests on one alone, as a detail does.
// $collection  the collection to stay in
// $passages    ids of passages
CYPHER 25
UNWIND $passages AS hit
MATCH (start:Passage {id: hit})
WHERE start.collection = $collection AND size(start.sources) = 1
MATCH (passage:Passage {id: start.sources[0]})
WHERE passage.collection = $collection
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN hit AS of, passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language, passage.section AS section,
  passage.aspect AS aspect, passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, 0.0 AS score
ORDER BY start, id
