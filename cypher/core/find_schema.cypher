// The version of the graph's schema, null if none is recorded; and whether the graph knows other
// servers.
CYPHER 25
OPTIONAL MATCH (schema:Schema {id: 'graph'})
RETURN schema.version AS version, EXISTS { (:Server) } AS has_servers
