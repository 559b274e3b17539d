// The best summaries of each aspect that no other summary rests on.
// None, where the collection's embeddings are of another model or in another slot by now.
// $vector                          the question's embedding
// $model, $slot                    what embedded it, and where the collection keeps such vectors
// $embedding                       the property that they are in
// $width                           how many of each aspect
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $aspects                         the trees to look at; [] for all
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects
MATCH (top:Passage)
  USING INDEX SEEK top:Passage(collection, kind, document)
WHERE top.collection = $collection AND top.kind = 'summary'
  AND top.document >= $first_document AND top.document <= $last_document
  AND top.aspect IN aspects
  AND NOT EXISTS { (top)<-[:SUMMARIZES]-() }
WITH top, vector.similarity.cosine(top[$embedding], $vector) AS near
ORDER BY near DESC, top.id
WITH top.aspect AS aspect, collect({top: top, near: near})[..$width] AS best
UNWIND best AS one
WITH one.top AS passage, 2 * one.near - 1 AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens} AS hit, score
ORDER BY score DESC, passage.id
