// Passages and elements that do not say how much of the text they rest on, or say too little.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Passage|Element)
WHERE ($document = '' OR n.document = $document) AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN n.last IS NULL OR n.since IS NULL OR n.since > n.last
    THEN 'nodes do not say how much of the text they rest on'
  WHEN n.document <> '' AND any(source IN n.sources
    WHERE EXISTS { MATCH (chunk:Passage {id: source}) WHERE chunk.end > n.last })
    THEN 'nodes rest on later text than they say'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
