// A document's own node and its passages, by id, with all their properties.
// $document    its id
// $after       the id to begin after; '' for the first
// $limit       how many to return
// $embeddings  whether embeddings are among the properties
CYPHER 25
CALL () {
  MATCH (n:Document {id: $document}) RETURN n
  UNION ALL
  MATCH (n:Chunk|Summary|Detail {document: $document}) RETURN n
}
WITH n
WHERE n.id > $after
ORDER BY n.id
LIMIT $limit
RETURN n.id AS id, labels(n) AS labels, n {
  .*, embedding: CASE WHEN $embeddings THEN n.embedding END, next_embedding: null,
  created_at: toString(n.created_at), updated_at: toString(n.updated_at)
} AS properties
ORDER BY id
