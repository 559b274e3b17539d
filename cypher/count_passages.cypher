// The shape of a document: how many passages of each kind, aspect and level, and their tokens.
// $document  its id
CYPHER 25
MATCH (passage:Chunk|Summary|Detail {document: $document})
RETURN passage.kind AS kind, passage.aspect AS aspect, passage.level AS level,
  count(*) AS passages, sum(passage.tokens) AS tokens
ORDER BY kind, aspect, level
