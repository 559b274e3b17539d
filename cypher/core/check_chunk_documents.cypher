// Chunks with an edge to no document, another's or several, and documents without a chunk.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
CALL () {
  MATCH (chunk:Chunk)
  WHERE ($document = '' OR chunk.document = $document)
  AND ($collection = '' OR chunk.collection = $collection)
  OPTIONAL MATCH (chunk)-[:FROM_DOCUMENT]->(owner)
  WITH chunk, count(owner) AS owners,
    count(CASE WHEN owner:Document AND owner.id = chunk.document THEN 1 END) AS own
  WHERE owners <> 1 OR own <> 1
  RETURN chunk.document AS document, chunk.id AS node,
    'chunks are not FROM_DOCUMENT their own document alone' AS what
  UNION ALL
  MATCH (document:Document)
  WHERE ($document = '' OR document.id = $document)
    AND ($collection = '' OR document.collection = $collection)
    AND NOT EXISTS { (:Chunk)-[:FROM_DOCUMENT]->(document) }
  RETURN document.id AS document, document.id AS node, 'it has no chunk' AS what
}
RETURN document, min(node) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
