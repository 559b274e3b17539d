// Triples with several subjects or objects, or with ends that are not entities of their document.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:Triple)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN COUNT { (n)-[:SUBJECT]->() } > 1 OR COUNT { (n)-[:OBJECT]->() } > 1
    THEN 'triples have more than one subject or object'
  WHEN EXISTS {
    MATCH (n)-[:SUBJECT|OBJECT]->(end) WHERE NOT end:Entity OR end.document <> n.document
  } THEN 'triples have ends that are not entities of their document'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
