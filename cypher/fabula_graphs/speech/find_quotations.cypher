// What some speakers surely say in a collection's documents, with the chunk in which each begins.
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $speakers                        names of speakers as quotations have them
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (quotation:Element {collection: $collection, kind: 'quotation'})
WHERE quotation.document >= $first_document AND quotation.document <= $last_document
  AND quotation.speaker IN $speakers AND quotation.last <= $until
  AND NOT coalesce(quotation.doubtful, false)
MATCH (document:Document {id: quotation.document})
  USING INDEX SEEK document:Document(id)
RETURN quotation.id AS id, quotation.text AS text, quotation.sources[0] AS chunk,
  document.language AS language
ORDER BY quotation.document, quotation.start, id
