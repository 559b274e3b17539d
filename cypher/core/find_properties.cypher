// The names and types of the properties of a document's nodes, without ids and embeddings.
// $collection, $document  its collection, and its id
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
  UNION ALL
  // What people decided about the graphs of a collection.
  MATCH (n:Decision)
  WHERE $document = '' AND n.id STARTS WITH $collection + '/'
  RETURN n
}
WITH n
WHERE n.collection = $collection AND NOT n:Replies
UNWIND keys(n) AS name
WITH n, name
WHERE NOT name IN ['id', 'embedding', 'embedding_2', 'run', 'labels', 'search_text', 'search_terms',
  'search_length', 'tenant', 'last', 'since']
RETURN DISTINCT name, valueType(n[name]) AS type
ORDER BY name, type
