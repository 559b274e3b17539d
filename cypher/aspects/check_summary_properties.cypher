// Summaries without an aspect or a level, and details with one: retrieval filters by both.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (passage:Summary|Detail)
WHERE ($document = '' OR passage.document = $document)
  AND ($collection = '' OR passage.collection = $collection)
WITH passage, CASE
  WHEN passage:Summary AND NOT coalesce(passage.aspect <> '' AND passage.level >= 1, false)
    THEN 'summaries have no aspect or no level'
  WHEN passage:Detail AND NOT coalesce(passage.aspect = '' AND passage.level = 0, false)
    THEN 'details have an aspect or a level'
END AS what
WHERE what IS NOT NULL
RETURN passage.document AS document, min(passage.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
