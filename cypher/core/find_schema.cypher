// The version of the graph's schema, null if none is recorded; whether there are documents without
// one; and whether the graph knows other servers. Other programs' documents have no such properties.
CYPHER 25
OPTIONAL MATCH (schema:Schema {id: 'graph'})
RETURN schema.version AS version,
  schema.version IS NULL AND EXISTS {
    (document:Document) WHERE document.sha256 IS NOT NULL AND document.collection IS NOT NULL
  } AS has_documents,
  EXISTS { (:Server) } AS has_servers
