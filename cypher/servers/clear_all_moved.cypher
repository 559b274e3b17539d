// Opens all collections that were moved from a server to writers, as it leaves the library.
CYPHER 25
MATCH (moved:MovedCollection)
WHERE NOT moved.is_moving
DELETE moved
