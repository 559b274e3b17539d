// The chunk of each passage that rests on a single chunk, as a detail does.
// $collection  the collection to stay in
// $passages    ids of passages
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $passages AS of
MATCH (start:Passage {id: of})
WHERE start.collection = $collection AND size(start.sources) = 1
MATCH (passage:Passage {id: start.sources[0]})
WHERE passage.collection = $collection AND passage.last <= $until
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN of, passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit
ORDER BY passage.start, passage.id
