// Deletes all nodes of a collection, except for the one that stands for it.
// $collection  its name
CYPHER 25
CALL () {
  MATCH (n:Decision) WHERE n.id STARTS WITH $collection + '/' RETURN n
  UNION ALL
  MATCH (n:AnnotationSlice) WHERE n.collection = $collection RETURN n
  UNION ALL
  MATCH (n:Element) WHERE n.collection = $collection AND n.kind >= '' AND n.document >= '' RETURN n
  UNION ALL
  MATCH (n:Passage) WHERE n.collection = $collection AND n.kind >= '' AND n.document >= '' RETURN n
  UNION ALL
  MATCH (n:Part) WHERE n.id STARTS WITH $collection + '/' RETURN n
  UNION ALL
  MATCH (n:Document) WHERE n.collection = $collection AND n.title_key >= '' AND n.id >= '' RETURN n
}
WITH n
WHERE n.collection = $collection
// Small slices: readers of other collections wait while the indexes take one out.
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 250 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
