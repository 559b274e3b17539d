// All nodes of a document, or of a collection itself, by id, as they are: with all properties, and
// their embeddings as vectors.
// $collection, $document  its collection, and its id; '' for what belongs to the collection itself
// $after                  the id to begin after; '' for the first
// $limit, $characters     how many to return: about so many characters of annotations end them earlier
// $embedding, $dimensions the property of the embeddings, and how many numbers they have
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
  // Annotations are kept beside the graphs of a document.
  WITH $document AS document WHERE document <> ''
  MATCH (n:AnnotationSlice) WHERE n.id STARTS WITH document + '/' RETURN n
  UNION ALL
  // What people decided about the graphs of a collection.
  MATCH (n:Decision)
  WHERE $document = '' AND n.id STARTS WITH $collection + '/'
  RETURN n
}
WITH n
WHERE n.id > $after AND n.collection = $collection
ORDER BY n.id
LIMIT $limit
// A slice of annotations may be long, and all that is returned is written by one transaction.
WITH collect(n) AS nodes, collect(size(coalesce(n.content, ''))) AS sizes
UNWIND range(0, size(nodes) - 1) AS i
WITH nodes[i] AS n, reduce(sum = 0, size IN sizes[0..i] | sum + size) AS before
WHERE before < $characters
// A node that was just switched in may still have the marks of its run.
RETURN n.id AS id, [label IN labels(n) WHERE label <> 'Staged'] AS labels,
  n { .*, embedding: null, embedding_2: null, run: null, labels: null } AS properties,
  CASE WHEN n[$embedding] IS NOT NULL THEN vector(n[$embedding], $dimensions, FLOAT32) END
    AS embedding
ORDER BY id
