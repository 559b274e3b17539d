// Facts whose ends are more than one entity each, of another document, or called otherwise.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Fact)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN COUNT { (n)-[:SUBJECT]->() } > 1 OR COUNT { (n)-[:OBJECT]->() } > 1
    THEN 'facts have more than one end'
  WHEN EXISTS {
    MATCH (n)-[:SUBJECT|OBJECT]->(end) WHERE NOT end:Entity OR end.document <> n.document
  } THEN 'facts end at what is no entity of their document'
  WHEN EXISTS { MATCH (n)-[:SUBJECT]->(end) WHERE end.name <> n.subject }
    OR EXISTS { MATCH (n)-[:OBJECT]->(end) WHERE end.name <> n.object }
    THEN 'facts name their ends otherwise than the entities are called'
  WHEN EXISTS { MATCH (n)-[:SUBJECT]->(end)<-[:OBJECT]-(n) }
    THEN 'facts tie an entity to itself'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
