// The parts that belong to a collection itself, which are made from parts of its documents.
// $collection  its name
CYPHER 25
MATCH (part:Part)
WHERE part.id STARTS WITH $collection + '/' AND part.collection = $collection AND part.document = ''
RETURN part { .*, updated_at: toString(part.updated_at) } AS part
ORDER BY part.graph
