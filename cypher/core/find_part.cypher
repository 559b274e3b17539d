// Nodes of a part by their ids, with the edges that begin at them.
// $edges       whether to read these
// $collection  the collection of the part
// $ids         the ids of the nodes
// $embedding   the property of the collection's embeddings; '' to leave them out
// $dimensions  of those embeddings
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Passage {id: id}) RETURN n
  UNION ALL
  MATCH (n:Element {id: id}) RETURN n
}
WITH n
WHERE n.collection = $collection
RETURN n.id AS id, labels(n) AS labels,
  n { .*, embedding: null, embedding_2: null, run: null, labels: null,
    search_text: null, search_terms: null, search_length: null, last: null, since: null,
    tenant: null } AS properties,
  CASE WHEN $embedding <> '' AND n[$embedding] IS NOT NULL
    THEN vector(n[$embedding], $dimensions, FLOAT32) END AS embedding,
  CASE WHEN $edges = true THEN COLLECT {
    MATCH (n)-[edge]->(end:Passage|Element|Document)
    RETURN {type: type(edge), end: end.id, properties: properties(edge)} ORDER BY type(edge), end.id
  } ELSE [] END AS edges
ORDER BY id
