// The chunk of each passage that rests on a single chunk, as a detail does.
// $collection  the collection to stay in
// $passages    ids of passages
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $passages AS of
MATCH (start:Passage {id: of})
  USING INDEX SEEK start:Passage(id)
WHERE start.collection = $collection AND size(start.sources) = 1
// In a graph of one book the planner may take a scan of all passages for each of these instead.
MATCH (passage:Passage {id: start.sources[0]})
  USING INDEX SEEK passage:Passage(id)
WHERE passage.collection = $collection AND passage.last <= $until
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN of, passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit
ORDER BY passage.start, passage.id
