// The version of the graph's schema; null where none is recorded.
CYPHER 25
OPTIONAL MATCH (schema:Schema {id: 'graph'})
RETURN schema.version AS version
