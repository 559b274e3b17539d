// The chunks right before and after the chunk of some passages, and that chunk itself if the passage
// is not a chunk. A passage that rests on several chunks has no neighbours.
// $collection  the collection to stay in
// $passages    ids of passages
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $passages AS of
MATCH (start:Passage {id: of})
  USING INDEX SEEK start:Passage(id)
WHERE start.collection = $collection AND size(start.sources) = 1
MATCH (chunk:Passage {id: start.sources[0]})
  USING INDEX SEEK chunk:Passage(id)
MATCH (chunk)-[:NEXT_CHUNK]-{0,1}(passage:Chunk)
WHERE passage <> start AND passage.collection = $collection
  AND passage.last <= $until
WITH DISTINCT of, passage, 0.0 AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN of, passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, score
ORDER BY passage.start, passage.id
