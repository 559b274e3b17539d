// What belongs to a collection itself: parts that are made of what all its documents have.
// $collection  its name
CYPHER 25
MATCH (part:Part)
WHERE part.id STARTS WITH $collection + '/' AND part.collection = $collection AND part.document = ''
RETURN part { .*, updated_at: toString(part.updated_at) } AS part
ORDER BY part.graph
