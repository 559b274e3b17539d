// The terms of events: each value of each slot, and the chunks that have it.
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (term:Element {collection: $collection, kind: 'term'})
WHERE term.document >= $first_document AND term.document <= $last_document AND term.since <= $until
RETURN term.slot AS slot, term.key AS key, term.sources AS chunks
ORDER BY slot, key, term.id
