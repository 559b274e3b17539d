// How many replaced and staged nodes are left of runs that ended early or have not swept yet.
// $collection  its name, or '' for all
// $document    the id of their document, or '' for all
// $runs        the runs that have ended
CYPHER 25
CALL () {
  MATCH (n:Retired) RETURN n
  UNION ALL
  MATCH (n:Staged) WHERE n.run IN $runs AND NOT n:Passage|Element RETURN n
}
WITH n
WHERE ($document = '' OR coalesce(n.document, n.id) = $document)
  AND ($collection = '' OR n.collection = $collection)
RETURN count(n) AS nodes
