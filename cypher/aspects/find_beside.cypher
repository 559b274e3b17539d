// The summaries of the same aspect and level just before and after some summaries in the text.
// $collection  the collection to search
// $passages    ids of the summaries
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $passages AS of
MATCH (start:Passage {id: of})
  USING INDEX SEEK start:Passage(id)
WHERE start.collection = $collection AND start.kind = 'summary'
CALL (start) {
  MATCH (passage:Passage {collection: $collection, kind: 'summary', document: start.document})
    USING INDEX SEEK passage:Passage(collection, kind, document)
  WHERE passage.aspect = start.aspect AND passage.level = start.level
    AND passage.last <= $until
    AND (passage.start < start.start OR passage.start = start.start AND passage.id < start.id)
  RETURN passage ORDER BY passage.start DESC, passage.id DESC LIMIT 1
  UNION ALL
  MATCH (passage:Passage {collection: $collection, kind: 'summary', document: start.document})
    USING INDEX SEEK passage:Passage(collection, kind, document)
  WHERE passage.aspect = start.aspect AND passage.level = start.level
    AND passage.last <= $until
    AND (passage.start > start.start OR passage.start = start.start AND passage.id > start.id)
  RETURN passage ORDER BY passage.start, passage.id LIMIT 1
}
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN of, passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit
ORDER BY passage.start, passage.id
