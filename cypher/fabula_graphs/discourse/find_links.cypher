// The discourse relations of a collection's documents in text order, with the chunks that they link.
// $collection  its name
// $document    a document's id, or '' for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (link:Element {document: document.id, kind: 'link'})
WHERE link.collection = $collection AND link.last <= $until
RETURN link.id AS id, document.id AS document, document.title AS title,
  document.language AS language, link.sources[0] AS arg1, link.sources[1] AS arg2,
  link.sense AS sense, link.form AS form, link.connective AS connective, link.cause AS cause,
  link.section AS section, link.start AS start, link.end AS end
ORDER BY title, document, start, id
