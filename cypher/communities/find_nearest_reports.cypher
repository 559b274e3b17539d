// The ids of the reports closest in meaning to a question, with their cosines.
// Returns nothing if the collection's embeddings are now of another model or in another slot.
// The program replaces element_vectors_256 by the index of the collection.
// $vector          the question's embedding
// $model, $slot    its embedding model, and the slot of the collection's embeddings
// $limit           how many reports to return
// $depth           how many the index is asked for; its recall is low for few
// $kind            report, or collectionreport for a collection's own
// $collection                      the collection to stay in
// $first_document, $last_document  a document's id twice, or '' and the last character for all
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
MATCH (report:Element)
SEARCH report IN (
  VECTOR INDEX element_vectors_256 FOR $vector
  WHERE report.collection = $collection AND report.kind = $kind
    AND report.document >= $first_document AND report.document <= $last_document
    AND report.since <= $until
  LIMIT $depth
) SCORE AS near
RETURN report.id AS id, 2 * near - 1 AS score
ORDER BY score DESC, id
LIMIT $limit
