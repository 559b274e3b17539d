// What a document's own node and its passages have beside ids and embeddings: names and types.
// $document  its id
CYPHER 25
CALL () {
  MATCH (n:Document {id: $document}) RETURN n
  UNION ALL
  MATCH (n:Chunk|Summary|Detail {document: $document}) RETURN n
}
UNWIND keys(n) AS name
WITH n, name
WHERE NOT name IN ['id', 'embedding', 'next_embedding']
RETURN DISTINCT name, valueType(n[name]) AS type
ORDER BY name, type
