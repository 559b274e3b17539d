// The nodes of a document that name the section of the chunks they rest on, with the first and the
// last of these chunks in text order.
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
RETURN n.id AS id, n.section AS section, head(chunks).start AS first, last(chunks).start AS last,
  head(chunks).section AS first_section, last(chunks).section AS last_section
ORDER BY id
