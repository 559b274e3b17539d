// The summaries directly above some passages; for a detail, those above its chunk.
// $collection  the collection to search
// $passages    ids of the passages
CYPHER 25
UNWIND $passages AS hit
MATCH (start:Passage {id: hit})-[:DETAILS]->{0,1}(below:Passage)
WHERE start.collection = $collection
MATCH (below)<-[edge:SUMMARIZES]-(passage:Passage)
WHERE passage.collection = $collection
WITH DISTINCT hit, passage, edge.weight AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN hit AS of, passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language, passage.section AS section,
  passage.aspect AS aspect, passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, score
ORDER BY score DESC, id
