// The top summaries of some documents, the aspect that tells most of the whole first, in text order.
// For a reader who has not read everything, these are the highest summaries of what was read.
// $collection  the collection to search
// $documents   ids of the documents
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (top:Passage)
  USING INDEX SEEK top:Passage(collection, kind, document)
WHERE top.collection = $collection AND top.kind = 'summary' AND top.document IN $documents
  AND top.last <= $until
  AND NOT EXISTS { MATCH (top)<-[:SUMMARIZES]-(above:Passage) WHERE above.last <= $until }
MATCH (document:Document {id: top.document})
  USING INDEX SEEK document:Document(id)
WITH document, top, CASE top.aspect WHEN 'plot' THEN 0 WHEN 'general' THEN 1 ELSE 2 END AS telling
WITH document, telling, top.aspect AS aspect, max(top.level) AS level, collect(top) AS tops
UNWIND tops AS passage
WITH document, telling, aspect, level, passage
WHERE passage.level = level
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, 0.0 AS score
ORDER BY passage.document, telling, aspect, passage.start, passage.id
