// The chunks of a collection in which quotations may be, and the chunk before and after each: those
// that have a phrase, those that share most with the words of a quotation, and some by their ids.
// $phrases     queries for phrases (fabula.store.search_index.phrase_query)
// $resembling  queries for words, each scored by the collection's own statistics
// $passages    ids of chunks, which come first among those that have a phrase
// $limit       how many chunks to return for each phrase
// $pool        how many to return for each query for words
// $until       how many characters of the document the reader has read
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
CYPHER 25
CALL () {
  UNWIND $phrases AS query
  CALL (query) {
    CALL db.index.fulltext.queryNodes('passage_texts', query) YIELD node AS chunk
    WHERE chunk:Passage AND chunk.kind = 'chunk' AND chunk.collection = $collection
      AND chunk.document >= $first_document AND chunk.document <= $last_document
      AND chunk.end <= $until
    WITH chunk
    ORDER BY chunk.id IN $passages DESC, chunk.document, chunk.start
    LIMIT $limit
    RETURN chunk
  }
  RETURN chunk
UNION
  UNWIND $resembling AS query
  CALL (query) {
    CALL db.index.fulltext.queryNodes('passage_texts', query) YIELD node AS chunk, score
    WHERE chunk:Passage AND chunk.kind = 'chunk' AND chunk.collection = $collection
      AND chunk.document >= $first_document AND chunk.document <= $last_document
      AND chunk.end <= $until
    WITH chunk, score
    ORDER BY score DESC, chunk.id
    LIMIT $pool
    RETURN chunk
  }
  RETURN chunk
UNION
  UNWIND $passages AS id
  MATCH (chunk:Passage {id: id})
    USING INDEX SEEK chunk:Passage(id)
  WHERE chunk.collection = $collection AND chunk.kind = 'chunk'
  RETURN chunk
}
// From each chunk to those beside it: with the conditions right here, the planner may begin with a
// scan of all passages.
MATCH (chunk)-[:NEXT_CHUNK]-{0,1}(passage)
WITH DISTINCT passage
WHERE passage:Chunk AND passage:Passage AND passage.collection = $collection
  AND passage.document >= $first_document AND passage.document <= $last_document
  AND passage.end <= $until
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit
ORDER BY passage.document, passage.start
