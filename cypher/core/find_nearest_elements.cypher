// The elements of some kinds closest in meaning to a question, of those that filters let through.
// None, where the collection's embeddings are of another model or in another slot by now.
// The program puts the space's index in the place of element_vectors_256.
// $vector          the question's embedding
// $model, $slot    what embedded it, and where the collection keeps such vectors
// $limit           how many elements to return
// $depth           how many the index is asked for; it recalls least at few
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $kinds                           as entity, relation; [] for all
// $aspects                         '' is the aspect of what has none; [] for all
// $lowest, $highest                levels; what has no height is at level 0
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects,
  CASE WHEN $kinds = [] THEN space.element_kinds ELSE $kinds END AS kinds
MATCH (element:Element)
SEARCH element IN (
  VECTOR INDEX element_vectors_256 FOR $vector
  WHERE element.collection = $collection
    AND element.document >= $first_document AND element.document <= $last_document
    AND element.kind IN kinds AND element.aspect IN aspects
    AND element.level >= $lowest AND element.level <= $highest
  LIMIT $depth
) SCORE AS near
WITH element, 2 * near - 1 AS score
ORDER BY score DESC, element.id
LIMIT $limit
MATCH (document:Document {id: element.document})
  USING INDEX SEEK document:Document(id)
RETURN element {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens} AS hit, score
ORDER BY score DESC, element.id
