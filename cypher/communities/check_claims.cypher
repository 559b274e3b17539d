// Claims that rest on another chunk than their source, or are of more than one, or have no words.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Claim)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN COLLECT { MATCH (n)-[:FROM_CHUNK]->(chunk:Chunk) RETURN chunk.id } <> n.sources
    THEN 'claims rest on other chunks than their sources'
  WHEN COUNT { (n)-[:SUBJECT]->() } > 1 OR COUNT { (n)-[:OBJECT]->() } > 1
    THEN 'claims have more than one subject or object'
  WHEN EXISTS {
    MATCH (n)-[:SUBJECT|OBJECT]->(end) WHERE NOT end:Entity OR end.document <> n.document
  } THEN 'claims are about what is no entity of their document'
  WHEN size(coalesce(n.quotes, [])) = 0 THEN 'claims quote nothing'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
