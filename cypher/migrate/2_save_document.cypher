// Gives a document the keys that it is found by, and parts in place of what it recorded itself.
// $document    its id
// $properties  new properties of the document
// $parts       {id, properties} of each part
CYPHER 25
MATCH (document:Document {id: $document})
CALL (document) {
  UNWIND $parts AS row
  MERGE (part:Part {id: row.id})
  SET part += row.properties, part.updated_at = document.updated_at
  MERGE (part)-[:PART_OF]->(document)
}
SET document += $properties
REMOVE document.settings, document.usage, document.calls, document.prompt_tokens,
  document.completion_tokens, document.saved, document.faults, document.assigned, document.changed
