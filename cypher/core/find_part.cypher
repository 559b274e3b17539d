// A page of a part's nodes, with the edges that begin at them.
// $collection, $graph, $document  its owner
// $after       the last id of the page before; '' for the first
// $limit       most nodes of a page
// $embedding   the property that the collection's embeddings are in; '' for none of them
// $dimensions  of those embeddings
CYPHER 25
CALL () {
  MATCH (n:Passage {document: $document}) RETURN n
  UNION ALL
  MATCH (n:Element {document: $document}) RETURN n
}
WITH n
WHERE n.collection = $collection AND n.graph = $graph AND n.id > $after
ORDER BY n.id
LIMIT $limit
RETURN n.id AS id, labels(n) AS labels,
  n { .*, embedding: null, embedding_2: null } AS properties,
  CASE WHEN $embedding <> '' AND n[$embedding] IS NOT NULL
    THEN vector(n[$embedding], $dimensions, FLOAT32) END AS embedding,
  COLLECT {
    MATCH (n)-[edge]->(end:Passage|Element|Document)
    RETURN {type: type(edge), end: end.id, properties: properties(edge)} ORDER BY type(edge), end.id
  } AS edges
ORDER BY id
