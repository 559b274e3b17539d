// What a run that ended too early has left: old nodes switched out, new ones never switched in.
// $document  its id, or '' for all
// $before    runs named before this one are not going on; a run's name begins with its time
// $limit     how many findings to return
CYPHER 25
CALL () {
  MATCH (n:Retired)
  RETURN n, 'nodes that were replaced are not deleted' AS what
  UNION ALL
  MATCH (n:Staged)
  WHERE n.run < $before
  RETURN n, 'nodes of a run that was broken off are not deleted' AS what
}
WITH coalesce(n.document, n.id) AS document, n, what
WHERE $document = '' OR document = $document
RETURN document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
