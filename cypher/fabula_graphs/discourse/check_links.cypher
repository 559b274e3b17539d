// Links that do not lead from a chunk to the one after it, or that do not say how.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Link)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN COUNT { (n)-[:ARG1|ARG2]->() } <> 2
    OR NOT EXISTS {
      (n)-[:ARG1]->(:Chunk {id: n.sources[0], document: n.document})
        -[:NEXT_CHUNK]->(:Chunk {id: n.sources[1], document: n.document})<-[:ARG2]-(n)
    }
    THEN 'links do not lead from a chunk to the one after it'
  WHEN coalesce(trim(n.sense), '') = '' THEN 'links have no sense'
  WHEN NOT coalesce(n.form IN ['explicit', 'implicit'], false)
    OR n.form = 'explicit' AND coalesce(n.connective, '') = ''
    THEN 'links are neither explicit nor implicit, or have no connective'
  WHEN NOT coalesce(n.cause IN ['', 'arg1', 'arg2'], false) THEN 'links have no such cause'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
