// The passages that share most with a question's words, over all levels and aspects.
// $words                           the question's words, lower-cased, nothing else
// $limit                           how many passages to return
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $kinds                           as chunk, summary, detail; [] for all
// $aspects                         '' is the aspect of what has none; [] for all
// $lowest, $highest                levels; chunks and details are level 0
CYPHER 25
CALL db.index.fulltext.queryNodes('passage_texts', $words) YIELD node AS passage, score
WHERE passage.collection = $collection
  AND passage.document >= $first_document AND passage.document <= $last_document
  AND ($kinds = [] OR passage.kind IN $kinds) AND ($aspects = [] OR passage.aspect IN $aspects)
  AND passage.level >= $lowest AND passage.level <= $highest
WITH passage, score
LIMIT $limit
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language, passage.section AS section,
  passage.aspect AS aspect, passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, score
ORDER BY score DESC, id
