// How many parts each of some graphs has in a collection or a document, and when they were written.
// The row of a graph changes whenever a part came, went or was replaced. A graph without parts has
// no row.
// $collection  its name
// $document    its id, or '' for all
// $graphs      their names
CYPHER 25
UNWIND $graphs AS graph
MATCH (part:Part)
WHERE part.id STARTS WITH $collection + '/' + graph + '/' + $document
  AND part.collection = $collection AND part.graph = graph
RETURN graph, count(part) AS parts, max(part.updated_at.epochMillis) AS latest,
  sum(part.updated_at.epochMillis) AS millis, sum(part.updated_at.nanosecond) AS nanos
ORDER BY graph
