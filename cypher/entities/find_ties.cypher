// The pairs of related entities of a collection's documents, with their weights.
// $collection  name of the collection
// $document    id of a document, or '' for all
// $type        type of both entities, or '' for all
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (entity:Element {document: document.id})
WHERE entity:Entity AND entity.collection = $collection
  AND toLower($type) IN ['', toLower(entity.type)]
MATCH (entity)-[edge:RELATES_TO]->(other:Entity {collection: $collection})
WHERE toLower($type) IN ['', toLower(other.type)]
RETURN entity.id AS source, other.id AS target, edge.count AS chunks, edge.strength AS strength
ORDER BY source, target
