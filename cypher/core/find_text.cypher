// The chunks that hold any character of some ranges of a document's text, in text order, each once.
// $collection, $document  its collection, and its id
// $spans                  the ranges: lists of the first character and the one after the last
CYPHER 25
MATCH (chunk:Passage {collection: $collection, kind: 'chunk', document: $document})
WHERE any(span IN $spans WHERE chunk.end > span[0] AND chunk.start < span[1])
RETURN chunk.id AS id, chunk.index AS index, chunk.section AS section, chunk.start AS start,
  chunk.end AS end, chunk.text AS text
ORDER BY start
