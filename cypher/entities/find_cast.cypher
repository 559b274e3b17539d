// The entities of a collection's documents, those that are mentioned most first.
// $collection  its name
// $document    a document's id, or '' for all
// $type        of one type, or '' for all
// $limit       how many
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (one:Element {document: document.id})
WHERE one:Entity AND one.collection = $collection AND toLower($type) IN ['', toLower(one.type)]
RETURN one.id AS id, document.id AS document, document.title AS title, one.name AS name,
  one.type AS type, one.mentions AS mentions, one.chunks AS chunks, one.degree AS relations,
  one.names AS names, one.counts AS counts
ORDER BY mentions DESC, chunks DESC, name, id
LIMIT $limit
