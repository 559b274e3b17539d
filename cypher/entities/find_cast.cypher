// The entities of a collection's documents, those with most mentions first.
// $collection  name of the collection
// $document    id of a document, or '' for all
// $limit       maximum number of rows
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (entity:Element {document: document.id})
WHERE entity:Entity AND entity.collection = $collection AND entity.since <= $until
RETURN entity.id AS id, document.id AS document, document.title AS title, entity.name AS name,
  entity.type AS type, entity.mentions AS mentions, entity.chunks AS chunks,
  entity.degree AS relations, entity.names AS names, entity.counts AS counts
ORDER BY mentions DESC, chunks DESC, name, id
LIMIT $limit
