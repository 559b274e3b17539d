// Chunks that do not begin where the one before them ends; the first begins at character 0.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (chunk:Chunk)
WHERE ($document = '' OR chunk.document = $document)
  AND ($collection = '' OR chunk.collection = $collection)
OPTIONAL MATCH (previous:Chunk)-[:NEXT_CHUNK]->(chunk)
WITH chunk, CASE
  WHEN chunk.start IS NULL OR chunk.end IS NULL OR chunk.end <= chunk.start
    THEN 'chunks cover no characters'
  WHEN chunk.start > coalesce(previous.end, 0) THEN 'text between chunks is missing'
  WHEN chunk.start < coalesce(previous.end, 0) THEN 'chunks overlap'
END AS what
WHERE what IS NOT NULL
RETURN chunk.document AS document, min(chunk.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
