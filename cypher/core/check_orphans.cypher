// Nodes whose document, or whose part of it, is not in the graph.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Part|Passage|Element)
WHERE ($document = '' OR n.document = $document) AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN coalesce(n.document, '-') <> '' AND NOT EXISTS { (:Document {id: n.document}) }
    THEN 'nodes belong to no document'
  WHEN NOT n:Part AND NOT EXISTS { (:Part {id: n.collection + '/' + n.graph + '/' + n.document}) }
    THEN 'nodes belong to no graph of their document'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
