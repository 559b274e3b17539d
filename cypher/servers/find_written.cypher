// When the last document of each collection was written, the latest first.
CYPHER 25
MATCH (space:Collection)
CALL (space) {
  MATCH (document:Document)
  WHERE document.collection = space.name AND document.title_key >= '' AND document.id >= ''
  RETURN max(document.updated_at) AS written
}
WITH space, written
WHERE written IS NOT NULL
RETURN space.name AS collection, toString(written) AS written
ORDER BY written DESC, collection
