// The summaries right above some passages, those of a detail's chunk above the detail.
// $passages  their ids
CYPHER 25
UNWIND $passages AS hit
MATCH (start:Chunk|Summary|Detail {id: hit})-[:DETAILS]->{0,1}(below:Chunk|Summary|Detail)
MATCH (below)<-[edge:SUMMARIZES]-(passage:Summary)
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN DISTINCT hit, passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language,
  passage.section AS section, passage.aspect AS aspect,
  passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, edge.weight AS score
ORDER BY score DESC, id
