// The passages closest in meaning to a question, and those that share most with its words.
// `pool_end` is the lowest score in a full pool: if a returned passage has it, others that are as good
// may be missing.
// Returns nothing if the collection's embeddings are now of another model or in another slot.
// The program replaces passage_vectors_256 by the index of the collection.
// $vector          the question's embedding
// $words           the query for its words (fabula.store.search_index)
// $pool            how many of the best by words are compared, so that equal ones are ordered by id
// $model, $slot    its embedding model, and the slot of the collection's embeddings
// $limit           how many passages to return of each
// $depth           how many the vector index is asked for; its recall is low for few
// $collection      the collection to stay in
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
CALL (space) {
  MATCH (passage:Passage)
  SEARCH passage IN (
    VECTOR INDEX passage_vectors_256 FOR $vector
    WHERE passage.collection = $collection
    LIMIT $depth
  ) SCORE AS score
  WITH passage, 2 * score - 1 AS near
  ORDER BY near DESC, passage.id
  LIMIT $limit
  RETURN passage, near, null AS alike, null AS pool_end
UNION ALL
  CALL db.index.fulltext.queryNodes('passage_texts', $words) YIELD node AS passage, score
  WHERE passage:Passage AND passage.collection = $collection
  WITH passage, score
  LIMIT $pool
  WITH collect({passage: passage, score: score}) AS pool
  WITH pool, CASE size(pool) WHEN $pool THEN pool[-1].score END AS pool_end
  UNWIND pool AS row
  WITH row.passage AS passage, row.score AS score, pool_end
  ORDER BY score DESC, passage.id
  LIMIT $limit
  RETURN passage, null AS near, score AS alike, pool_end
}
WITH passage, max(near) AS near, max(alike) AS alike, max(pool_end) AS pool_end
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens} AS hit, near, alike, pool_end
ORDER BY passage.id
