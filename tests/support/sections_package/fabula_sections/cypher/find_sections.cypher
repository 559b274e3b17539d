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
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens} AS hit, score
ORDER BY score DESC, passage.id
