// The members of some summaries, and the details of some chunks; a detail has no weight.
// $collection  the collection to search
// $passages    ids of the passages
CYPHER 25
UNWIND $passages AS hit
MATCH (start:Passage {id: hit})
WHERE start.collection = $collection
CALL (start) {
  MATCH (start)-[edge:SUMMARIZES]->(passage:Passage) RETURN passage, edge.weight AS weight
  UNION ALL
  MATCH (start)<-[:DETAILS]-(passage:Passage) RETURN passage, null AS weight
}
WITH hit, passage, weight
WHERE passage.collection = $collection
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN hit AS of, passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language, passage.section AS section,
  passage.aspect AS aspect, passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, weight
ORDER BY start, id
