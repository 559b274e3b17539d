// The passages of one document closest in meaning to a question.
// None, where the collection's embeddings are of another model or in another slot by now.
// The program puts the space's index in the place of passage_vectors_256.
// $vector          the question's embedding
// $model, $slot    what embedded it, and where the collection keeps such vectors
// $limit           how many passages to return
// $depth           how many the index is asked for; it recalls least at few
// $collection      the collection to stay in
// $document        the document to look in
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
MATCH (passage:Passage)
SEARCH passage IN (
  VECTOR INDEX passage_vectors_256 FOR $vector
  WHERE passage.collection = $collection AND passage.document = $document
  LIMIT $depth
) SCORE AS near
WITH passage, 2 * near - 1 AS score
ORDER BY score DESC, passage.id
LIMIT $limit
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens} AS hit, score
ORDER BY score DESC, passage.id
