// The passage that a place in a document is named by, with the chunks that it rests on.
// $collection, $document  its collection, and its id
// $at       a passage's id, or a section's heading, or a part of one, in lower case
// $index    a chunk's number in the document; -1 for none
CYPHER 25
MATCH (passage:Passage {document: $document})
WHERE passage.collection = $collection AND (passage.id = $at
  OR passage.kind = 'chunk'
    AND (passage.index = $index OR $index < 0 AND toLower(passage.section) CONTAINS $at))
WITH passage
ORDER BY passage.id <> $at, toLower(passage.section) <> $at, passage.start
LIMIT 1
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language, passage.section AS section,
  passage.aspect AS aspect, passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, 0.0 AS score
