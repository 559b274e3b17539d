// When the last document of each collection was written, the latest first. Each is the end of an
// index, which Neo4j only reads backwards in the order of all its properties.
CYPHER 25
MATCH (space:Collection)
CALL (space) {
  MATCH (document:Document)
  WHERE document.collection = space.name AND document.updated_at IS NOT NULL
  WITH document
  ORDER BY document.collection DESC, document.updated_at DESC
  LIMIT 1
  RETURN document.updated_at AS written
}
RETURN space.name AS collection, toString(written) AS written
ORDER BY written DESC, collection
