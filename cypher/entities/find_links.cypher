// The relations and triples of a collection or of a document, as columns: a row of lists for either.
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
CYPHER 25
UNWIND ['relation', 'triple'] AS kind
MATCH (n:Element {collection: $collection, kind: kind})
WHERE n.document >= $first_document AND n.document <= $last_document
MATCH (start:Entity)<-[:SOURCE|SUBJECT]-(n)-[:TARGET|OBJECT]->(end:Entity)
RETURN kind, collect(n.id) AS ids, collect(start.id) AS starts, collect(end.id) AS ends,
  collect(n.count) AS counts, collect(n.sources) AS sources,
  collect(coalesce(n.keywords, [])) AS keywords
ORDER BY kind
