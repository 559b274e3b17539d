// Up the trees: the chunks and details closest to a question, and all summaries above them.
// `nearest` is how many the index gave.
// None, where the collection's embeddings are of another model or in another slot by now.
// The program puts the space's index in the place of passage_vectors_256.
// $vector                          the question's embedding
// $model, $slot                    what embedded it, and where the collection keeps such vectors
// $embedding                       the property that they are in
// $limit                           how many chunks and details to begin with
// $depth                           how many the index is asked for; it recalls least at few
// $covering                        0 to 1: what the share of starts below counts against cosine
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $kinds                           as chunk, summary, detail: of what is returned; [] for all
// $aspects                         '' is the aspect of chunks and details; [] for all
// $lowest, $highest                levels of what is returned
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects
MATCH (start:Passage)
SEARCH start IN (
  VECTOR INDEX passage_vectors_256 FOR $vector
  WHERE start.collection = $collection
    AND start.document >= $first_document AND start.document <= $last_document
    AND start.kind IN ['chunk', 'detail']
  LIMIT $depth
) SCORE AS near
WITH aspects, start, near
ORDER BY near DESC, start.id
LIMIT $limit
MATCH (start)-[:DETAILS]->{0,1}(chunk:Chunk {collection: $collection})
WITH aspects, collect({start: start, chunk: chunk}) AS begun
UNWIND begun AS one
WITH aspects, size(begun) AS total, one.start AS start, one.chunk AS chunk
CALL (chunk, start) {
  RETURN start AS passage
  UNION
  RETURN chunk AS passage
  UNION
  MATCH (chunk)<-[:SUMMARIZES]-{1,9}(passage:Summary)
  RETURN passage
}
WITH aspects, total, passage, count(DISTINCT start) AS covered
WHERE passage.collection = $collection
  AND ($kinds = [] OR passage.kind IN $kinds) AND passage.aspect IN aspects
  AND passage.level >= $lowest AND passage.level <= $highest
WITH passage, total, 1.0 * covered / total AS share,
  2 * vector.similarity.cosine(passage[$embedding], $vector) - 1 AS cosine
WITH passage, total, (1 - $covering) * cosine + $covering * share AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens} AS hit, score, total AS nearest
ORDER BY score DESC, passage.id
