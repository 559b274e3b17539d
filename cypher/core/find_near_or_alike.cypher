// The passages closest in meaning to a question, and those that share most with its words.
// Each row has the revision of the collection as well, as core/count_words returns it.
// Returns nothing if the collection's embeddings are now of another model or in another slot.
// The program replaces passage_vectors_256 by the index of the collection.
// $vector          the question's embedding
// $words           the query for its words (fabula.store.search_index)
// $pool            how many to return of those that share words, nearly in order
// $reach           how many of them are read for that, in the order of the index
// $model, $slot    its embedding model, and the slot of the collection's embeddings
// $limit           how many passages to return of the closest in meaning
// $depth           how many the vector index is asked for; its recall is low for few
// $collection      the collection to stay in
// $locks           the beginning of the ids of its locks
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
CALL (space) {
  MATCH (lock:Lock)
  WHERE lock.id STARTS WITH $locks
  WITH [count(lock), max(lock.taken_at.epochMillis), sum(lock.taken_at.epochMillis),
    sum(lock.taken_at.nanosecond)] AS times
  RETURN reduce(text = '', number IN times | text + '/' + coalesce(toString(number), '')) AS revision
}
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
  RETURN passage, near, null AS alike
UNION ALL
  CALL db.index.fulltext.queryNodes('passage_texts', $words) YIELD node AS passage, score
  WHERE passage:Passage AND passage.collection = $collection
  WITH passage, score
  LIMIT $reach
  WITH passage, score
  ORDER BY score DESC, passage.id
  LIMIT $pool
  RETURN passage, null AS near, score AS alike
}
WITH passage, revision, max(near) AS near, max(alike) AS alike
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, near, alike, revision,
  CASE WHEN alike IS NOT NULL THEN passage.search_text END AS words,
  CASE WHEN alike IS NOT NULL THEN passage.search_length END AS length
ORDER BY passage.id
