// The passages closest in meaning to a question, among those that pass the filters.
// Returns nothing if the collection's embeddings are now of another model or in another slot.
// The program replaces passage_vectors_256 by the index of the collection.
// $vector          the question's embedding
// $model, $slot    its embedding model, and the slot of the collection's embeddings
// $limit           how many passages to return
// $depth           how many the index is asked for; its recall is low for few
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $kinds                           such as chunk, summary, detail; [] for all
// $aspects                         '' for passages without an aspect; [] for all
// $lowest, $highest                levels; chunks and details are level 0
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects,
  CASE WHEN $kinds = [] THEN space.kinds ELSE $kinds END AS kinds,
  $until AS until
MATCH (passage:Passage)
SEARCH passage IN (
  VECTOR INDEX passage_vectors_256 FOR $vector
  WHERE passage.collection = $collection
    AND passage.document >= $first_document AND passage.document <= $last_document
    AND passage.kind IN kinds AND passage.aspect IN aspects
    AND passage.level >= $lowest AND passage.level <= $highest
    AND passage.last <= until
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
