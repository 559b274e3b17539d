// The summaries directly above some passages; for a detail, those above its chunk.
// $collection  the collection to search
// $passages    ids of the passages
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $passages AS of
MATCH (start:Passage {id: of})-[:DETAILS]->{0,1}(below:Passage)
  USING INDEX SEEK start:Passage(id)
WHERE start.collection = $collection
MATCH (below)<-[edge:SUMMARIZES]-(passage:Passage)
WHERE passage.collection = $collection AND passage.last <= $until
WITH DISTINCT of, passage, edge.weight AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN of, passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, score
ORDER BY score DESC, passage.id
