// Entities, relations and triples that rest on no chunk, or on others than their sources.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Entity|Relation|Triple)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:FROM_CHUNK]->(chunk) RETURN chunk.id } AS chunks,
  COUNT { MATCH (n)-[:FROM_CHUNK]->(chunk) WHERE chunk:Chunk AND chunk.document = n.document } AS own
WITH n, toLower(n.kind) AS kind, CASE
  WHEN size(chunks) = 0 THEN 'rest on no chunk'
  WHEN own <> size(chunks) THEN 'rest on what is no chunk of their document'
  WHEN size(chunks) <> size(n.sources) OR NOT all(id IN chunks WHERE id IN n.sources)
    THEN 'rest on other chunks than their sources'
  WHEN size(chunks) <> CASE n.kind WHEN 'entity' THEN n.chunks ELSE n.count END
    THEN 'count other chunks than they rest on'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count,
  CASE kind WHEN 'entity' THEN 'entities ' ELSE kind + 's ' END + what AS what
ORDER BY document, what
LIMIT $limit
