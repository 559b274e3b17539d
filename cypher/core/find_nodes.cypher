// A document's node, those of its parts and all nodes of these, by id, with all properties.
// $collection, $document  its collection, and its id; '' for what belongs to the collection itself
// $after       the id to begin after; '' for the first
// $limit       how many to return
// $embedding   the property of the embeddings; '' to leave them out
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
WHERE n.id > $after AND n.collection = $collection AND NOT n:Replies
ORDER BY n.id
LIMIT $limit
RETURN n.id AS id, labels(n) AS labels, n {
  .*, embedding: CASE WHEN $embedding <> '' THEN n[$embedding] END, embedding_2: null,
  run: null, labels: null, search_text: null, search_terms: null, search_length: null,
  last: null, since: null,
  tenant: null,
  created_at: toString(n.created_at), updated_at: toString(n.updated_at),
  at: CASE WHEN n:Decision THEN toString(n.at) ELSE n.at END,
  undone_at: CASE WHEN n:Decision THEN toString(n.undone_at) END
} AS properties
ORDER BY id
