// The version of the graph's schema, null if none is recorded.
CYPHER 25
OPTIONAL MATCH (schema:Schema {id: 'graph'})
RETURN schema.version AS version
