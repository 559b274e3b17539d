// The collection whose document was written last.
CYPHER 25
MATCH (space:Collection)
CALL (space) {
  MATCH (document:Document)
  WHERE document.collection = space.name AND document.title_key >= '' AND document.id >= ''
  RETURN max(document.updated_at) AS written
}
WITH space, written
WHERE written IS NOT NULL
RETURN space.name AS collection
ORDER BY written DESC, collection
LIMIT 1
