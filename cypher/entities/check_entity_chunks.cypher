// Entities, relations and triples without chunks, or with other chunks than their sources.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:Entity|Relation|Triple)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:FROM_CHUNK]->(chunk) RETURN chunk.id } AS chunks,
  COUNT {
    MATCH (n)-[:FROM_CHUNK]->(chunk) WHERE chunk:Chunk AND chunk.document = n.document
  } AS valid
WITH n, toLower(n.kind) AS kind, CASE
  WHEN size(chunks) = 0 THEN 'have no chunks'
  WHEN valid <> size(chunks) THEN 'have chunks that are not of their document'
  WHEN size(chunks) <> size(n.sources) OR NOT all(id IN chunks WHERE id IN n.sources)
    THEN 'have other chunks than their sources'
  WHEN size(chunks) <> CASE n.kind WHEN 'entity' THEN n.chunks ELSE n.count END
    THEN 'have a wrong number of chunks in their properties'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count,
  CASE kind WHEN 'entity' THEN 'entities ' ELSE kind + 's ' END + what AS what
ORDER BY document, what
LIMIT $limit
