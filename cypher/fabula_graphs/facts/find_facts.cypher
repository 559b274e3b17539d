// The facts of a collection's documents, with what proves each and where, those stated most first.
// $collection  its name
// $document    a document's id, or '' for all
// $name        of whom or what, by any name in lower case; '' for all
// $relation    of one relation, or '' for all
// $limit       how many
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (fact:Element {document: document.id})
WHERE fact:Fact AND fact.collection = $collection AND $relation IN ['', fact.predicate]
  AND fact.last <= $until
OPTIONAL MATCH (fact)-[:SUBJECT]->(subject:Entity {collection: $collection})
OPTIONAL MATCH (fact)-[:OBJECT]->(object:Entity {collection: $collection})
// A fact names both ends by their usual names, which may be printed later than the fact is stated.
WITH document, fact, subject, object
WHERE all(end IN [[subject, fact.subject], [object, fact.object]]
  WHERE end[0] IS NULL OR end[0].last <= $until OR EXISTS {
    MATCH (entity:Element {id: end[0].id})-[part:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
    WHERE chunk.last <= $until AND end[1] IN part.names
  })
WITH document, fact, subject, object, [fact.subject, fact.object]
  + CASE WHEN subject.last <= $until THEN coalesce(subject.names, []) ELSE [] END
  + CASE WHEN object.last <= $until THEN coalesce(object.names, []) ELSE [] END AS names
WHERE $name = '' OR any(name IN names WHERE toLower(name) = $name)
RETURN fact.id AS id, document.id AS document, document.title AS title,
  document.language AS language, fact.subject AS subject, fact.predicate AS predicate,
  fact.object AS object, fact.subject_type AS subject_type, fact.object_type AS object_type,
  subject.id AS subject_id, object.id AS object_id, fact.text AS text, fact.proof AS proof,
  fact.section AS section, fact.start AS start, fact.end AS end, fact.count AS chunks
ORDER BY chunks DESC, title, start, id
LIMIT $limit
