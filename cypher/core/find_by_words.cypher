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
RETURN passage {
  .id, .kind, .document, .section, .aspect, .level, .start, .end, .text, .tokens,
  title: document.title, language: document.language, score: score
} AS hit
ORDER BY score DESC, passage.id
