// The chunks of a document between two characters, and some before and after them, in text order.
// $collection, $document  its collection, and its id
// $first, $last           the first character, and the one after the last
// $chunks_before, $chunks_after  how many chunks before and after
// $until                  how many characters of the document the reader has read
CYPHER 25
CALL () {
  MATCH (chunk:Passage {collection: $collection, kind: 'chunk', document: $document})
  WHERE chunk.end > $first AND chunk.start < $last AND chunk.end <= $until
  RETURN chunk
  UNION ALL
  MATCH (chunk:Passage {collection: $collection, kind: 'chunk', document: $document})
  WHERE chunk.end <= $first AND chunk.end <= $until
  RETURN chunk ORDER BY chunk.start DESC LIMIT $chunks_before
  UNION ALL
  MATCH (chunk:Passage {collection: $collection, kind: 'chunk', document: $document})
  WHERE chunk.start >= $last AND chunk.end <= $until
  RETURN chunk ORDER BY chunk.start LIMIT $chunks_after
}
MATCH (document:Document {id: chunk.document})
  USING INDEX SEEK document:Document(id)
RETURN chunk {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit
ORDER BY chunk.start
