// Which entities of a collection's documents are tied, and by how much.
// $collection  its name
// $document    a document's id, or '' for all
// $type        of what type both are, or '' for any
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (one:Element {document: document.id})
WHERE one:Entity AND one.collection = $collection AND toLower($type) IN ['', toLower(one.type)]
MATCH (one)-[tie:RELATES_TO]->(other:Entity {collection: $collection})
WHERE toLower($type) IN ['', toLower(other.type)]
RETURN one.id AS source, other.id AS target, tie.count AS chunks, tie.strength AS strength
ORDER BY source, target
