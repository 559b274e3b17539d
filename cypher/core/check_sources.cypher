// Nodes that rest on no chunk, or on one that is not in their collection.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Passage|Element)
WHERE ($document = '' OR n.document = $document) AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN coalesce(size(n.sources), 0) = 0 THEN 'nodes rest on no chunk'
  // What belongs to a collection is stale where they are not, and goes when it is made again.
  WHEN coalesce(n.document, '-') <> '' AND NOT all(source IN n.sources
    WHERE EXISTS { (:Passage {id: source, kind: 'chunk', collection: n.collection}) })
    THEN 'nodes rest on chunks that are not there'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
