// The pairs of related entities of a collection's documents, with their weights.
// $collection  name of the collection
// $document    id of a document, or '' for all
// $type        type of both entities, or '' for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (entity:Element {document: document.id})
WHERE entity:Entity AND entity.collection = $collection AND entity.since <= $until
  AND toLower($type) IN ['', toLower(entity.type)]
MATCH (entity)-[edge:RELATES_TO]->(other:Entity {collection: $collection})
WHERE toLower($type) IN ['', toLower(other.type)] AND other.since <= $until
WITH entity, other, CASE WHEN entity.last <= $until AND other.last <= $until
  THEN edge {chunks: edge.count, .strength}
  ELSE head(COLLECT {
    MATCH (entity)<-[:SOURCE]-(relation:Relation {collection: $collection})-[:TARGET]->(other)
    MATCH (relation)-[part:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
    WHERE chunk.last <= $until
    RETURN {chunks: count(chunk), strength: sum(part.strength)}
  }) END AS tie
WHERE tie.chunks > 0
RETURN entity.id AS source, other.id AS target, tie.chunks AS chunks, tie.strength AS strength
ORDER BY source, target
