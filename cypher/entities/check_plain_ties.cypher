// Entities with a RELATES_TO edge that no relation stands for.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:Entity)-[:RELATES_TO]->(other)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
  AND NOT EXISTS { (n)<-[:SOURCE]-(:Relation)-[:TARGET]->(other) }
WITH DISTINCT n
RETURN n.document AS document, min(n.id) AS id, count(*) AS count,
  'entities have a RELATES_TO edge without a relation' AS what
ORDER BY document
LIMIT $limit
