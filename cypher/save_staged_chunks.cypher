// Stages chunks, tied to their document and each to the one before it.
// $run       the name of this run
// $document  the document's id
// $rows      {id, properties, embedding, previous} of each, in text order; the first has no previous
CYPHER 25
MATCH (document:Staged {run: $run, id: $document})
UNWIND $rows AS row
MERGE (chunk:Staged {run: $run, id: row.id})
SET chunk += row.properties
WITH document, chunk, row
CALL db.create.setNodeVectorProperty(chunk, 'embedding', row.embedding)
MERGE (chunk)-[:FROM_DOCUMENT]->(document)
FOREACH (_ IN CASE WHEN row.previous IS NULL THEN [1] ELSE [] END |
  MERGE (document)-[:FIRST_CHUNK]->(chunk))
WITH chunk, row
WHERE row.previous IS NOT NULL
MATCH (previous:Staged {run: $run, id: row.previous})
MERGE (previous)-[:NEXT_CHUNK]->(chunk)
