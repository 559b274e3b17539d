// The passages of a collection closest in meaning to a question.
// Returns nothing if the collection's embeddings are now of another model or in another slot.
// The program replaces passage_vectors_256 by the index of the collection.
// $vector          the question's embedding
// $model, $slot    its embedding model, and the slot of the collection's embeddings
// $limit           how many passages to return
// $depth           how many the index is asked for; its recall is low for few
// $collection      the collection to stay in
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
MATCH (passage:Passage)
SEARCH passage IN (
  VECTOR INDEX passage_vectors_256 FOR $vector
  WHERE passage.collection = $collection
  LIMIT $depth
) SCORE AS near
WITH passage, 2 * near - 1 AS score
ORDER BY score DESC, passage.id
LIMIT $limit
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, score
ORDER BY score DESC, passage.id
