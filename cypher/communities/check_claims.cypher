// Claims with another chunk than their source, or with several chunks, or without a quote.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:Claim)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN COLLECT { MATCH (n)-[:FROM_CHUNK]->(chunk:Chunk) RETURN chunk.id } <> n.sources
    THEN 'claims have other chunks than their sources'
  WHEN COUNT { (n)-[:SUBJECT]->() } > 1 OR COUNT { (n)-[:OBJECT]->() } > 1
    THEN 'claims have more than one subject or object'
  WHEN EXISTS {
    MATCH (n)-[:SUBJECT|OBJECT]->(end) WHERE NOT end:Entity OR end.document <> n.document
  } THEN 'claims are about nodes that are not entities of their document'
  WHEN size(coalesce(n.quotes, [])) = 0 THEN 'claims have no quotes'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
