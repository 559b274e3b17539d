// The best summaries of each aspect that no other summary rests on.
// None, where the graph's embeddings are of another model, or are just being moved.
// $vector                          the question's embedding
// $model                           what embedded it
// $width                           how many of each aspect
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $aspects                         the trees to look at; [] for all
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph', model: $model})
WHERE coalesce(space.phase, '') <> 'moving'
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects
MATCH (top:Summary)
WHERE top.document >= $first_document AND top.document <= $last_document
  AND top.collection = $collection AND top.aspect IN aspects
  AND NOT EXISTS { (top)<-[:SUMMARIZES]-() }
WITH top, vector.similarity.cosine(top.embedding, $vector) AS near
ORDER BY near DESC, top.id
WITH top.aspect AS aspect, collect({top: top, near: near})[..$width] AS best
UNWIND best AS one
WITH one.top AS passage, one.near AS near
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language,
  passage.section AS section, passage.aspect AS aspect,
  passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, 2 * near - 1 AS score
ORDER BY score DESC, id
