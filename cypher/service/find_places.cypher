// Where ids lead that stand in a table: which of them are documents or passages of a collection.
// $collection     its name
// $ids            what may be an id
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id IN $ids
RETURN document.id AS id, document.id AS document
UNION
MATCH (passage:Passage {collection: $collection})
WHERE passage.id IN $ids
RETURN passage.id AS id, passage.document AS document
