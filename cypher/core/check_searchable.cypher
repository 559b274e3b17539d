// Aspects and kinds of passages and embedded elements that their collection does not list, so that no
// query finds them.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Passage|Element)
WHERE ($document = '' OR n.document = $document) AND ($collection = '' OR n.collection = $collection)
  AND (n:Passage OR n.embedding IS NOT NULL OR n.embedding_2 IS NOT NULL)
OPTIONAL MATCH (space:Collection {name: n.collection})
WITH n, CASE WHEN n:Passage THEN 'passages' ELSE 'elements' END AS nodes, space.aspects AS aspects,
  CASE WHEN n:Passage THEN space.kinds ELSE space.element_kinds END AS kinds
WITH n, CASE
  WHEN NOT coalesce(n.aspect IN aspects, false)
    THEN 'no query finds the ' + nodes + ' about ' + n.aspect
  WHEN NOT coalesce(n.kind IN kinds, false) THEN 'no query finds the ' + nodes + ' of kind ' + n.kind
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
