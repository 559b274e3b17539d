// The names of the collections that hold documents.
CYPHER 25
MATCH (space:Collection)
WHERE EXISTS {
  MATCH (document:Document)
  WHERE document.collection = space.name AND document.title_key >= '' AND document.id >= ''
}
RETURN space.name AS name
ORDER BY name
