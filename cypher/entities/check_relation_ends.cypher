// Relations that do not tie two entities of their document, or that no plain tie stands for.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Relation)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:SOURCE]->(end:Entity {document: n.document}) RETURN end } AS sources,
  COLLECT { MATCH (n)-[:TARGET]->(end:Entity {document: n.document}) RETURN end } AS targets,
  COUNT { (n)-[:SOURCE|TARGET]->() } AS ends
WITH n, ends, sources, targets, sources[0] AS one, targets[0] AS other
WITH n, CASE
  WHEN ends <> 2 OR size(sources) <> 1 OR size(targets) <> 1
    THEN 'relations do not tie two entities of their document'
  WHEN one.id >= other.id THEN 'relations tie entities in another order than by ids'
  WHEN COUNT {
    MATCH (one)-[tie:RELATES_TO]->(other)
    WHERE tie.count = n.count AND tie.strength = n.strength
  } <> 1 THEN 'relations have no RELATES_TO of the same weight beside them'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
