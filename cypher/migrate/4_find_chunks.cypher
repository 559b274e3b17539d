// The chunks of a document in text order, with the titles of their sections.
// $collection, $document  its collection, and its id
// $characters             how much of the text of each
CYPHER 25
MATCH (chunk:Passage {collection: $collection, kind: 'chunk', document: $document})
RETURN chunk.id AS id, chunk.start AS start, coalesce(chunk.section, '') AS section,
  left(chunk.text, $characters) AS head
ORDER BY start
