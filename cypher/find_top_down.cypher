// Down the trees: the best tops of each aspect, then the best of what those at hand rest on.
// None, where the graph's embeddings are of another model, or are just being moved.
// $vector                          the question's embedding
// $model                           what embedded it
// $width                           how many are kept at each step, and tops of each aspect
// $depth                           how many steps down
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $kinds                           out of chunk, summary and detail: of what is returned
// $aspects                         the trees to go down; [] for all
// $lowest, $highest                levels of what is returned
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph', model: $model})
WHERE coalesce(space.phase, '') <> 'moving'
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects
MATCH (top:Summary)
WHERE top.document >= $first_document AND top.document <= $last_document
  AND top.collection = $collection AND top.aspect IN aspects
  AND NOT EXISTS { (top)<-[:SUMMARIZES]-() }
WITH top
ORDER BY vector.similarity.cosine(top.embedding, $vector) DESC, top.id
WITH top.aspect AS aspect, collect(top)[..$width] AS best
UNWIND best AS top
WITH collect(top) AS tops
WITH reduce(path = [tops], step IN range(1, $depth) | path + [COLLECT {
  UNWIND path[-1] AS node
  MATCH (node)-[:SUMMARIZES]->(member)
  WITH DISTINCT member
  ORDER BY vector.similarity.cosine(member.embedding, $vector) DESC, member.id
  LIMIT $width
  RETURN member
}]) AS path
UNWIND path AS nodes
UNWIND nodes AS passage
WITH DISTINCT passage
WHERE passage.kind IN $kinds AND passage.level >= $lowest AND passage.level <= $highest
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language,
  passage.section AS section, passage.aspect AS aspect,
  passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens,
  2 * vector.similarity.cosine(passage.embedding, $vector) - 1 AS score
ORDER BY score DESC, id
