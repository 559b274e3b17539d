// Passages whose properties, by which retrieval filters, are not those of their label or document.
// $document  its id, or '' for all
// $limit     how many findings to return
CYPHER 25
MATCH (passage:Chunk|Summary|Detail)
WHERE $document = '' OR passage.document = $document
OPTIONAL MATCH (document:Document {id: passage.document})
WITH passage, CASE
  WHEN passage.collection IS NULL OR passage.collection <> document.collection
    THEN 'passages are in another collection than their document'
  WHEN [passage.kind] <> [label IN labels(passage) | toLower(label)]
    OR passage.kind IS NULL
    THEN 'passages are of another kind than their label'
  WHEN passage.kind = 'summary'
    AND NOT coalesce(passage.aspect <> '' AND passage.level >= 1, false)
    THEN 'summaries have no aspect or no level'
  WHEN passage.kind <> 'summary'
    AND NOT coalesce(passage.aspect = '' AND passage.level = 0, false)
    THEN 'chunks or details have an aspect or a level'
END AS what
WHERE what IS NOT NULL
RETURN passage.document AS document, min(passage.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
