// The chunks right before and after some chunks, and a detail's own chunk beside it.
// $passages  ids of passages; a summary has no neighbours
CYPHER 25
UNWIND $passages AS hit
MATCH (start:Chunk|Detail {id: hit})-[:DETAILS]->{0,1}(chunk:Chunk)
MATCH (chunk)-[:NEXT_CHUNK]-{0,1}(passage:Chunk)
WHERE passage <> start
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN DISTINCT hit, passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language,
  passage.section AS section, passage.aspect AS aspect,
  passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, 0.0 AS score
ORDER BY start, id
