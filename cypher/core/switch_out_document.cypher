// Hides a document and all its graphs from all readers. Returns what of it is kept by the next version
// of the document: its metadata, and whether it may be asked.
// $collection, $document  its collection, and its id
CYPHER 25
CALL () {
  MATCH (n:Document {id: $document}) RETURN n
  UNION
  MATCH (document:Document {id: $document})<-[:PART_OF]-(n:Part)
  WHERE document.collection = $collection
  RETURN n
  UNION
  MATCH (n:Part {id: $collection + '/text/' + $document}) RETURN n
  UNION
  MATCH (n:Passage {document: $document}) RETURN n
  UNION
  MATCH (n:Element {document: $document}) RETURN n
}
WITH n
WHERE n.collection = $collection
// All are found before the first loses what it or another one is found by.
WITH collect(n) AS found, head(collect(CASE WHEN n:Document THEN n END)) AS document
WITH found, [name IN keys(document)
  WHERE name STARTS WITH 'meta_' OR name IN ['is_off', 'stated'] | [name, document[name]]] AS kept
UNWIND found AS n
// Nothing is deleted here: removing nodes from the indexes would make readers wait.
REMOVE n:$([label IN labels(n) WHERE NOT label =~ '(Passage|Element)(Text|[0-9]+)'])
SET n:Retired
RETURN count(n) AS nodes, toString(max(n.created_at)) AS created_at, head(collect(kept)) AS kept
