// Up the trees: the chunks and details closest to a question, and all summaries above them.
// None, where the graph's embeddings are of another model, or are just being moved.
// $vector                          the question's embedding
// $model                           what embedded it
// $starts                          how many chunks and details to begin with
// $covering                        0 to 1: what the share of starts below counts against cosine
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $kinds                           out of chunk, summary and detail: of what is returned
// $aspects                         '' is the aspect of chunks and details; [] for all
// $lowest, $highest                levels of what is returned
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph', model: $model})
WHERE coalesce(space.phase, '') <> 'moving'
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects
MATCH (start:Chunk|Summary|Detail)
SEARCH start IN (
  VECTOR INDEX passage_vectors FOR $vector
  WHERE start.collection = $collection
    AND start.document >= $first_document AND start.document <= $last_document
    AND start.kind IN ['chunk', 'detail']
  LIMIT $starts
)
MATCH (start)-[:DETAILS]->{0,1}(chunk:Chunk)
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
WHERE passage.kind IN $kinds AND passage.aspect IN aspects
  AND passage.level >= $lowest AND passage.level <= $highest
WITH passage, 1.0 * covered / total AS share,
  2 * vector.similarity.cosine(passage.embedding, $vector) - 1 AS cosine
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language,
  passage.section AS section, passage.aspect AS aspect,
  passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens,
  (1 - $covering) * cosine + $covering * share AS score
ORDER BY score DESC, id
