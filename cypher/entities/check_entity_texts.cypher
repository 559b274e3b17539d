// Entities, relations and triples without text, or with a count of tokens that is not above 0.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:Entity|Relation|Triple)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
  AND NOT coalesce(n.tokens > 0 AND trim(n.text) <> '', false)
RETURN n.document AS document, min(n.id) AS id, count(*) AS count,
  'entities, relations or triples have no text or no tokens' AS what
ORDER BY document
LIMIT $limit
