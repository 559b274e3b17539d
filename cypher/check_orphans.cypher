// Passages whose document is not in the graph.
// $document  its id, or '' for all
// $limit     how many findings to return
CYPHER 25
MATCH (passage:Chunk|Summary|Detail)
WHERE ($document = '' OR passage.document = $document)
  AND NOT EXISTS { (:Document {id: passage.document}) }
RETURN passage.document AS document, min(passage.id) AS id, count(*) AS count,
  'passages belong to no document' AS what
ORDER BY document
LIMIT $limit
