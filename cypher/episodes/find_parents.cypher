// The episodes directly above some passages.
// $collection  the collection to search
// $passages    ids of the passages
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $passages AS of
MATCH (below:Passage {id: of})<-[:COMPRISES]-(passage:Passage)
  USING INDEX SEEK below:Passage(id)
WHERE below.collection = $collection AND passage.collection = $collection AND passage.last <= $until
WITH DISTINCT of, passage
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN of, passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, 1.0 AS score
ORDER BY passage.id
