// Passages and embedded elements whose properties, by which retrieval filters, are not those of their
// label or document.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Passage|Element)
WHERE ($document = '' OR n.document = $document) AND ($collection = '' OR n.collection = $collection)
  AND (n:Passage OR n.embedding IS NOT NULL OR n.embedding_2 IS NOT NULL)
OPTIONAL MATCH (document:Document {id: n.document})
WITH n, document, CASE WHEN n:Passage THEN 'passages ' ELSE 'elements ' END AS nodes
WITH n, CASE
  WHEN n.collection IS NULL OR n.collection <> document.collection
    THEN nodes + 'are in another collection than their document'
  WHEN n.kind IS NULL OR NOT n.kind IN [label IN labels(n) | toLower(label)]
    THEN nodes + 'are of another kind than their label'
  WHEN n.aspect IS NULL OR n.level IS NULL THEN nodes + 'have no aspect or no level'
  WHEN n.kind = 'chunk' AND (n.aspect <> '' OR n.level <> 0) THEN 'chunks have an aspect or a level'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
