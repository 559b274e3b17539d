// Passages whose properties, by which retrieval filters, are not those of their label or document.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (passage:Passage)
WHERE ($document = '' OR passage.document = $document)
  AND ($collection = '' OR passage.collection = $collection)
OPTIONAL MATCH (document:Document {id: passage.document})
WITH passage, CASE
  WHEN passage.collection IS NULL OR passage.collection <> document.collection
    THEN 'passages are in another collection than their document'
  WHEN passage.kind IS NULL OR NOT passage.kind IN [label IN labels(passage) | toLower(label)]
    THEN 'passages are of another kind than their label'
  WHEN passage.aspect IS NULL OR passage.level IS NULL
    THEN 'passages have no aspect or no level'
  WHEN passage.kind = 'chunk' AND (passage.aspect <> '' OR passage.level <> 0)
    THEN 'chunks have an aspect or a level'
END AS what
WHERE what IS NOT NULL
RETURN passage.document AS document, min(passage.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
