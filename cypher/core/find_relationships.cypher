// The relationships that begin at the nodes of a document, by those nodes' ids.
// $collection, $document  its collection, and its id; '' for what belongs to the collection itself
// $documents  the ids of those whose nodes they may end at; empty for all
// $after      the id to begin after; '' for the first
// $limit      how many nodes' relationships to return
CYPHER 25
CALL () {
  MATCH (n:Document {id: $document}) RETURN n
  UNION ALL
  MATCH (n:Part)-[:PART_OF]->(document:Document {id: $document})
  WHERE document.collection = $collection
  RETURN n
  UNION ALL
  MATCH (n:Part)
  WHERE $document = '' AND n.id STARTS WITH $collection + '/' AND n.document = ''
  RETURN n
  UNION ALL
  WITH $document AS document WHERE document <> ''
  MATCH (n:Passage {document: document}) RETURN n
  UNION ALL
  WITH $document AS document WHERE document <> ''
  MATCH (n:Element {document: document}) RETURN n
  UNION ALL
  // What belongs to a collection itself is found by the collection, as all others' has no document.
  WITH $document AS document WHERE document = ''
  MATCH (n:Passage) WHERE n.collection = $collection AND n.kind >= '' AND n.document = document
  RETURN n
  UNION ALL
  WITH $document AS document WHERE document = ''
  MATCH (n:Element) WHERE n.collection = $collection AND n.kind >= '' AND n.document = document
  RETURN n
}
WITH n
WHERE n.id > $after AND n.collection = $collection
ORDER BY n.id
LIMIT $limit
RETURN n.id AS id, labels(n) AS labels, COLLECT {
  MATCH (n)-[r]->(m:Document|Part|Passage|Element)
  WHERE ($documents = [] OR coalesce(m.document, m.id) IN $documents)
    AND m.id IS NOT NULL AND m.collection = $collection
  RETURN {type: type(r), id: m.id, labels: labels(m), properties: properties(r)}
  ORDER BY type(r), m.id
} AS leading
ORDER BY id
