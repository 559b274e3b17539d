// Keeps what somebody decided about a graph, unless somebody else has decided something since it was
// checked, or the document is gone; returns how many decisions were kept, 1 or 0.
// $collection             the collection
// $number                 its number, which follows that of the last decision that was seen
// $graph, $kind, $names   the graph, what is to be done, and what it is to be done with
// $document, $documents   the id of the only document or '', and the ids of those that it concerns
// $by                     who decided it
// $began                  when it was checked, in milliseconds of the server's clock
CYPHER 25
OPTIONAL MATCH (known:Decision)
WHERE known.id STARTS WITH $collection + '/' AND known.collection = $collection
WITH coalesce(max(known.number), 0) AS last
WHERE last + 1 = $number AND ($document = '' OR EXISTS {
  MATCH (document:Document {id: $document}) WHERE document.collection = $collection
})
CREATE (decision:Decision {
  id: $collection + '/' + toString($number), collection: $collection, number: $number,
  name: $kind + ' ' + $names[0], graph: $graph, kind: $kind, names: $names, document: $document,
  documents: $documents, by: $by, at: datetime({epochMillis: $began}), undone_by: ''
})
RETURN count(decision) AS decisions
