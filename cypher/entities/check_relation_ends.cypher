// Relations that do not have two entities of their document, or no RELATES_TO edge beside them.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:Relation)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:SOURCE]->(end:Entity {document: n.document}) RETURN end } AS sources,
  COLLECT { MATCH (n)-[:TARGET]->(end:Entity {document: n.document}) RETURN end } AS targets,
  COUNT { (n)-[:SOURCE|TARGET]->() } AS ends
WITH n, ends, sources, targets, sources[0] AS source, targets[0] AS target
WITH n, CASE
  WHEN ends <> 2 OR size(sources) <> 1 OR size(targets) <> 1
    THEN 'relations do not have two entities of their document'
  WHEN source.id >= target.id THEN 'relations have their entities in the wrong order'
  WHEN COUNT {
    MATCH (source)-[edge:RELATES_TO]->(target)
    WHERE edge.count = n.count AND edge.strength = n.strength
  } <> 1 THEN 'relations have no RELATES_TO edge of the same weight'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
