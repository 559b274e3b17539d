// How many nodes there are of the first schema, which recorded no version.
CYPHER 25
SHOW CONSTRAINTS YIELD name
WHERE name = 'embedding_space_id'
RETURN count(*) AS traces
