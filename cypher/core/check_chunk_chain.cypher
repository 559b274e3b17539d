// Chunks that are not linked in one chain from the first chunk to the last, by index.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (chunk:Chunk)
WHERE ($document = '' OR chunk.document = $document)
  AND ($collection = '' OR chunk.collection = $collection)
WITH chunk, CASE
  WHEN [(chunk)<-[:FIRST_CHUNK]-(owner) | owner.id] <>
    CASE chunk.index WHEN 0 THEN [chunk.document] ELSE [] END
    THEN 'FIRST_CHUNK does not lead to chunk 0 alone'
  WHEN COUNT { ()-[:NEXT_CHUNK]->(chunk) } <> CASE chunk.index WHEN 0 THEN 0 ELSE 1 END
    THEN 'chunks are not reached by one NEXT_CHUNK'
  WHEN COUNT { (chunk)-[:NEXT_CHUNK]->() } > 1 THEN 'NEXT_CHUNK branches'
  WHEN EXISTS { (chunk)-[:NEXT_CHUNK]->(next) WHERE next.document <> chunk.document }
    THEN 'NEXT_CHUNK leads into another document'
  WHEN EXISTS { (chunk)-[:NEXT_CHUNK]->(next) WHERE next.index <> chunk.index + 1 }
    THEN 'NEXT_CHUNK leads to a chunk that is not the next'
END AS what
WHERE what IS NOT NULL
RETURN chunk.document AS document, min(chunk.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
