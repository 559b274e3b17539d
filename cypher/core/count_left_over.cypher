// What runs that ended early, or have not swept yet, have left: replaced nodes, and staged ones.
// $collection  its name, or '' for all
// $document    the id of the document it is of, or '' for all
// $runs        the runs that do not go on
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
