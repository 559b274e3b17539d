// The facts of a collection's documents, with what proves each and where, those stated most first.
// $collection  its name
// $document    a document's id, or '' for all
// $name        of whom or what, by any name in lower case; '' for all
// $relation    of one relation, or '' for all
// $limit       how many
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (fact:Element {document: document.id})
WHERE fact:Fact AND fact.collection = $collection AND $relation IN ['', fact.predicate]
OPTIONAL MATCH (fact)-[:SUBJECT]->(subject:Entity {collection: $collection})
OPTIONAL MATCH (fact)-[:OBJECT]->(object:Entity {collection: $collection})
WITH document, fact, subject, object,
  [fact.subject, fact.object] + coalesce(subject.names, []) + coalesce(object.names, []) AS names
WHERE $name = '' OR any(name IN names WHERE toLower(name) = $name)
RETURN fact.id AS id, document.id AS document, document.title AS title,
  document.language AS language, fact.subject AS subject, fact.predicate AS predicate,
  fact.object AS object, fact.subject_type AS subject_type, fact.object_type AS object_type,
  subject.id AS subject_id, object.id AS object_id, fact.text AS text, fact.proof AS proof,
  fact.section AS section, fact.start AS start, fact.end AS end, fact.count AS chunks, fact.by AS by
ORDER BY chunks DESC, title, start, id
LIMIT $limit
