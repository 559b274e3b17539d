// The version of the graph's schema, null if none is recorded, and whether there are documents without
// one. Other programs' documents have no such properties.
CYPHER 25
OPTIONAL MATCH (schema:Schema {id: 'graph'})
RETURN schema.version AS version,
  schema.version IS NULL AND EXISTS {
    (document:Document) WHERE document.sha256 IS NOT NULL AND document.collection IS NOT NULL
  } AS has_documents
