// The passages closest in meaning to a question, while a re-embedded graph moves its embeddings.
// None, where they are of another model, or find_nearest has its turn; it is the same otherwise.
// $vector                          the question's embedding
// $model                           what embedded it
// $limit                           how many passages to return
// $depth                           how many the index is asked for; it recalls least at few
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $kinds                           out of chunk, summary and detail
// $aspects                         '' is the aspect of chunks and details; [] for all
// $lowest, $highest                levels; chunks and details are level 0
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph', model: $model})
WHERE space.phase = 'moving'
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects
MATCH (passage:Chunk|Summary|Detail)
SEARCH passage IN (
  VECTOR INDEX passage_vectors_next FOR $vector
  WHERE passage.collection = $collection
    AND passage.document >= $first_document AND passage.document <= $last_document
    AND passage.kind IN $kinds AND passage.aspect IN aspects
    AND passage.level >= $lowest AND passage.level <= $highest
  LIMIT $depth
) SCORE AS score
WITH passage, score
ORDER BY score DESC, passage.id
LIMIT $limit
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language,
  passage.section AS section, passage.aspect AS aspect,
  passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, 2 * score - 1 AS score
ORDER BY score DESC, id
