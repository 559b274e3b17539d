// The version of the graph's schema, and whether there is anything in the graph at all.
CYPHER 25
OPTIONAL MATCH (schema:Schema {id: 'graph'})
RETURN schema.version AS version, EXISTS { (:EmbeddingSpace) } AS unversioned
