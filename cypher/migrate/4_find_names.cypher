// The nodes of a document that name a section, with the first and the last chunk they rest on.
// $collection, $document  its collection, and its id
CYPHER 25
CALL () {
  MATCH (n:Passage {document: $document}) RETURN n
  UNION ALL
  MATCH (n:Element {document: $document}) RETURN n
}
WITH n
WHERE n.collection = $collection AND n.section IS NOT NULL
UNWIND n.sources AS source
MATCH (chunk:Passage {id: source})
WHERE chunk.collection = $collection
WITH n, chunk
ORDER BY n.id, chunk.start
WITH n, collect(chunk) AS chunks
RETURN n.id AS id, n.kind AS kind, n.section AS section, head(chunks).id AS first,
  last(chunks).id AS last
ORDER BY id
