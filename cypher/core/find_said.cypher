// What graphs say of some chunks: the passages that rest on any of them, the closest of them.
// $collection, $document  the chunks' collection, and their document's id
// $passages  their ids
// $limit     how many to return
CYPHER 25
MATCH (passage:Passage {document: $document})
WHERE passage.collection = $collection AND passage.kind <> 'chunk'
  AND any(source IN passage.sources WHERE source IN $passages)
WITH passage
ORDER BY passage.level, size(passage.sources), passage.kind, passage.aspect, passage.id
LIMIT $limit
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language, passage.section AS section,
  passage.aspect AS aspect, passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, 0.0 AS score
ORDER BY level, kind, aspect, id
