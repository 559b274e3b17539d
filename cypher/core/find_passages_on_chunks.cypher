// The passages of graphs that rest on any of some chunks, the closest first.
// $collection, $document  the chunks' collection, and their document's id
// $passages  their ids
// $limit     how many to return
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (passage:Passage {document: $document})
WHERE passage.collection = $collection AND passage.kind <> 'chunk'
  AND passage.last <= $until
  AND any(source IN passage.sources WHERE source IN $passages)
WITH passage
ORDER BY passage.level, size(passage.sources), passage.kind, passage.aspect, passage.id
LIMIT $limit
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit
ORDER BY passage.level, passage.kind, passage.aspect, passage.id
