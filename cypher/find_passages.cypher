// A page of a document's passages, with what they are tied to and their embeddings.
// $document    its id
// $after       the last id of the page before; '' for the first
// $limit       most passages of a page
// $dimensions  of the graph's embeddings
CYPHER 25
MATCH (n:Chunk|Summary|Detail {document: $document})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
RETURN n.id AS id, n.kind AS kind, n.section AS section, n.start AS start, n.end AS end,
  n.text AS text, n.tokens AS tokens, n.index AS index, n.aspect AS aspect, n.level AS level,
  n.ordinal AS ordinal, vector(n.embedding, $dimensions, FLOAT32) AS embedding,
  [(n)-[edge:SUMMARIZES]->(member) | {id: member.id, weight: edge.weight}] AS members,
  head([(n)-[:DETAILS]->(chunk) | chunk.id]) AS chunk
ORDER BY id
