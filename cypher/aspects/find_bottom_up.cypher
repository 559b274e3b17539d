// The chunks and details nearest to a question, and all summaries above them.
// `nearest` is how many rows the index returned.
// Returns nothing if the collection's embeddings are of another model or in another slot by now.
// Fabula replaces passage_vectors_256 by the name of the collection's own index.
// $vector                          the question's embedding
// $model, $slot                    the model that embedded it, and the slot of its vectors
// $embedding                       the property that holds those vectors
// $limit                           number of chunks and details to start from
// $depth                           number of rows asked of the index, whose recall is low for few
// $covering                        weight, 0 to 1, of the share of starts below, against cosine
// $collection                      the collection to search
// $first_document, $last_document  a document's id twice, or '' and the last character for all
// $kinds                           kinds to return (chunk, summary, detail); [] for all
// $aspects                         aspects ('' for chunks and details); [] for all
// $lowest, $highest                lowest and highest level to return
// $until                           how many characters of the document the reader has read
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects
MATCH (start:Passage)
SEARCH start IN (
  VECTOR INDEX passage_vectors_256 FOR $vector
  WHERE start.collection = $collection
    AND start.document >= $first_document AND start.document <= $last_document
    AND start.kind IN ['chunk', 'detail'] AND start.last <= $until
  LIMIT $depth
) SCORE AS near
WITH aspects, start, near
ORDER BY near DESC, start.id
LIMIT $limit
MATCH (start)-[:DETAILS]->{0,1}(chunk:Chunk {collection: $collection})
WITH aspects, collect({start: start, chunk: chunk}) AS begun
UNWIND begun AS pair
WITH aspects, size(begun) AS total, pair.start AS start, pair.chunk AS chunk
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
  AND passage.level >= $lowest AND passage.level <= $highest AND passage.last <= $until
WITH passage, total, 1.0 * covered / total AS share,
  2 * vector.similarity.cosine(passage[$embedding], $vector) - 1 AS cosine
WITH passage, total, (1 - $covering) * cosine + $covering * share AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, score, total AS nearest
ORDER BY score DESC, passage.id
