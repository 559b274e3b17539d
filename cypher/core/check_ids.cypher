// Nodes without an id, or with the id of another node.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Document|Passage|Element)
WHERE $collection = '' OR n.collection = $collection
WITH n.id AS id, count(*) AS nodes, collect(DISTINCT coalesce(n.document, n.id)) AS documents
WHERE (id IS NULL OR nodes > 1) AND ($document = '' OR $document IN documents)
RETURN documents[0] AS document, min(id) AS id, sum(nodes) AS count,
  CASE WHEN id IS NULL THEN 'nodes have no id' ELSE 'nodes share an id' END AS what
ORDER BY document, what
LIMIT $limit
