// How many parts a collection has of each graph.
// $collection  its name
CYPHER 25
MATCH (part:Part)
WHERE part.id STARTS WITH $collection + '/' AND part.collection = $collection
RETURN part.graph AS graph, count(*) AS parts
ORDER BY graph
