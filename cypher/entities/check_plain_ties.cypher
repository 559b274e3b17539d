// Entities that are tied without a relation that says how.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Entity)-[tie:RELATES_TO]->(other)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
  AND NOT EXISTS { (n)<-[:SOURCE]-(:Relation)-[:TARGET]->(other) }
WITH DISTINCT n
RETURN n.document AS document, min(n.id) AS id, count(*) AS count,
  'entities are tied by no relation' AS what
ORDER BY document
LIMIT $limit
