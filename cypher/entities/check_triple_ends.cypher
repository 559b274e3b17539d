// Triples whose ends are more than one entity each, or of another document.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Triple)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN COUNT { (n)-[:SUBJECT]->() } > 1 OR COUNT { (n)-[:OBJECT]->() } > 1
    THEN 'triples have more than one end'
  WHEN EXISTS {
    MATCH (n)-[:SUBJECT|OBJECT]->(end) WHERE NOT end:Entity OR end.document <> n.document
  } THEN 'triples end at what is no entity of their document'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
