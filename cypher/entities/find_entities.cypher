// The entities of a collection or of a document as columns: a list for each property.
// $collection                      name of the collection
// $first_document, $last_document  the id of a document twice, or '' and the last character for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (n:Element {collection: $collection, kind: 'entity'})
WHERE n.document >= $first_document AND n.document <= $last_document AND n.since <= $until
RETURN collect(n.id) AS ids, collect(n.key) AS keys, collect(n.type) AS types,
  collect(n.names) AS names, collect(n.counts) AS counts, collect(n.sources) AS sources
