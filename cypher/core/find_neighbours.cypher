// The chunks right before and after some passages' own, and the chunk itself beside what is none.
// What rests on more than one chunk has no neighbours.
// $collection  the collection to stay in
// $passages    ids of passages
CYPHER 25
UNWIND $passages AS hit
MATCH (start:Passage {id: hit})
WHERE start.collection = $collection AND size(start.sources) = 1
MATCH (chunk:Passage {id: start.sources[0]})
MATCH (chunk)-[:NEXT_CHUNK]-{0,1}(passage:Chunk)
WHERE passage <> start AND passage.collection = $collection
WITH DISTINCT hit, passage, 0.0 AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN hit AS of, passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language, passage.section AS section,
  passage.aspect AS aspect, passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, score
ORDER BY start, id
