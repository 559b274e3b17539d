// The members of some summaries, and the details of some chunks; a detail has no weight.
// $collection  the collection to search
// $passages    ids of the passages
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $passages AS of
MATCH (start:Passage {id: of})
  USING INDEX SEEK start:Passage(id)
WHERE start.collection = $collection
CALL (start) {
  MATCH (start)-[edge:SUMMARIZES]->(passage:Passage) RETURN passage, edge.weight AS weight
  UNION ALL
  MATCH (start)<-[:DETAILS]-(passage:Passage) RETURN passage, null AS weight
}
WITH of, passage, weight
WHERE passage.collection = $collection AND passage.last <= $until
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN of, passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, weight
ORDER BY passage.start, passage.id
