// Facts that rest on no chunk, on others than their sources, or that have no words.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Fact)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:FROM_CHUNK]->(chunk) RETURN chunk.id } AS chunks,
  COUNT { MATCH (n)-[:FROM_CHUNK]->(chunk) WHERE chunk:Chunk AND chunk.document = n.document } AS own
WITH n, CASE
  WHEN size(chunks) = 0 THEN 'facts rest on no chunk'
  WHEN own <> size(chunks) THEN 'facts rest on what is no chunk of their document'
  WHEN size(chunks) <> size(n.sources) OR NOT all(id IN chunks WHERE id IN n.sources)
    THEN 'facts rest on other chunks than their sources'
  WHEN size(chunks) <> n.count THEN 'facts count other chunks than they rest on'
  WHEN NOT coalesce(n.tokens > 0 AND trim(n.text) <> '', false)
    THEN 'facts have no text or no tokens'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
