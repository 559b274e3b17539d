// The chunks right before and after some passages' own, and the chunk itself beside what is none.
// What rests on more than one chunk has no neighbours.
// $collection  the collection to stay in
// $passages    ids of passages
CYPHER 25
UNWIND $passages AS hit
MATCH (start:Passage {id: hit})
WHERE start.collection = $collection AND size(start.sources) = 1
MATCH (chunk:Passage {id: start.sources[0]})
MATCH (chunk)-[:NEXT_CHUNK]-{0,1}(passage:Chunk)
WHERE passage <> start AND passage.collection = $collection
WITH DISTINCT hit, passage, 0.0 AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN hit AS of, passage {
  .id, .kind, .document, .section, .aspect, .level, .start, .end, .text, .tokens,
  title: document.title, language: document.language, score: score
} AS hit
ORDER BY passage.start, passage.id
