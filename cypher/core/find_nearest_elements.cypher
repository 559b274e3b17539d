// The elements of some kinds closest in meaning to a question, among those that pass the filters.
// Returns nothing if the collection's embeddings are now of another model or in another slot.
// The program replaces element_vectors_256 by the index of the collection.
// $vector          the question's embedding
// $model, $slot    its embedding model, and the slot of the collection's embeddings
// $limit           how many elements to return
// $depth           how many the index is asked for; its recall is low for few
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $kinds                           such as entity, relation; [] for all
// $aspects                         '' for passages without an aspect; [] for all
// $lowest, $highest                levels; elements without a level are at 0
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects,
  CASE WHEN $kinds = [] THEN space.element_kinds ELSE $kinds END AS kinds,
  $until AS until
MATCH (element:Element)
SEARCH element IN (
  VECTOR INDEX element_vectors_256 FOR $vector
  WHERE element.collection = $collection
    AND element.document >= $first_document AND element.document <= $last_document
    AND element.kind IN kinds AND element.aspect IN aspects
    AND element.level >= $lowest AND element.level <= $highest
    AND element.since <= until
  LIMIT $depth
) SCORE AS near
WITH element, 2 * near - 1 AS score
ORDER BY score DESC, element.id
LIMIT $limit
MATCH (document:Document {id: element.document})
  USING INDEX SEEK document:Document(id)
RETURN element {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, score
ORDER BY score DESC, element.id
