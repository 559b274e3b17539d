// The summaries right above some passages, those of a detail's chunk above the detail.
// $collection  the collection to stay in
// $passages    their ids
CYPHER 25
UNWIND $passages AS hit
MATCH (start:Passage {id: hit})-[:DETAILS]->{0,1}(below:Passage)
WHERE start.collection = $collection
MATCH (below)<-[edge:SUMMARIZES]-(passage:Passage)
WHERE passage.collection = $collection
WITH DISTINCT hit, passage, edge.weight AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN hit AS of, passage {
  .id, .kind, .document, .section, .aspect, .level, .start, .end, .text, .tokens,
  title: document.title, language: document.language, score: score
} AS hit
ORDER BY score DESC, passage.id
