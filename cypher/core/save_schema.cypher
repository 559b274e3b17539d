// Records the version of the graph's schema.
// $version  the version
CYPHER 25
MERGE (schema:Schema {id: 'graph'})
SET schema.version = $version
