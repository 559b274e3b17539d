// The text of a document between two characters: the chunks that hold any of it, in text order.
// $collection, $document  its collection, and its id
// $first, $last           the first character, and the one after the last
CYPHER 25
MATCH (chunk:Passage {collection: $collection, kind: 'chunk', document: $document})
WHERE chunk.end > $first AND chunk.start < $last
RETURN chunk.id AS id, chunk.index AS index, chunk.section AS section, chunk.start AS start,
  chunk.end AS end, chunk.text AS text
ORDER BY start
