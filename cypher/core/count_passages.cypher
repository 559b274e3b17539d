// How many passages a document has by kind, aspect and level, and their tokens.
// $collection, $document  its collection, and its id
CYPHER 25
MATCH (passage:Passage {document: $document})
WHERE passage.collection = $collection
RETURN passage.kind AS kind, passage.aspect AS aspect, passage.level AS level,
  count(*) AS passages, sum(passage.tokens) AS tokens
ORDER BY kind, aspect, level
