// The sections of a collection whose headings and beginnings are closest to a question.
// $vector                          the question's embedding
// $model, $slot                    what embedded it, and where the collection keeps such vectors
// $limit                           how many to return
// $depth                           how many the index is asked for
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
MATCH (passage:Passage)
SEARCH passage IN (
  VECTOR INDEX passage_vectors_256 FOR $vector
  WHERE passage.collection = $collection AND passage.kind = 'section'
    AND passage.document >= $first_document AND passage.document <= $last_document
  LIMIT $depth
) SCORE AS near
WITH passage, 2 * near - 1 AS score
ORDER BY score DESC, passage.id
LIMIT $limit
MATCH (document:Document {id: passage.document})
RETURN passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language, passage.section AS section,
  passage.aspect AS aspect, passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, score
ORDER BY score DESC, id
