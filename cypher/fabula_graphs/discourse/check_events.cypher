// Events that are of no chunk of their document, or that have other terms than slots.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Event)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:FROM_CHUNK]->(chunk:Chunk {document: n.document}) RETURN chunk.id }
  AS chunks,
  [slot IN ['who', 'predicate', 'what', 'when', 'where', 'why', 'how'] WHERE n[slot] IS NOT NULL]
  AS slots,
  COLLECT {
    MATCH (n)-[:WHO|PREDICATE|WHAT|WHEN|WHERE|WHY|HOW]->(term:Term {document: n.document})
    RETURN term.slot
  } AS told
WITH n, CASE
  WHEN chunks <> n.sources OR COUNT { (n)-[:FROM_CHUNK]->() } <> 1
    THEN 'events are not of the chunk that they rest on'
  WHEN size(slots) = 0 THEN 'events say nothing'
  WHEN size(told) <> size(slots) OR NOT all(slot IN slots WHERE slot IN told)
    THEN 'events have other terms than slots'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
