// The relations, triples and facts of a collection or of a document, as columns: a row of lists for
// each kind; 'few' are the facts that rules found. A triple or a fact of which one end alone is an
// entity leads from it to itself; one without is left out.
// $collection                      the collection to stay in
// $first_document, $last_document  the same id twice, or '' and the last character for all
CYPHER 25
UNWIND ['relation', 'triple', 'fact'] AS kind
MATCH (n:Element {collection: $collection, kind: kind})
WHERE n.document >= $first_document AND n.document <= $last_document
OPTIONAL MATCH (n)-[:SOURCE|SUBJECT]->(one:Entity {collection: $collection})
OPTIONAL MATCH (n)-[:TARGET|OBJECT]->(other:Entity {collection: $collection})
WITH CASE WHEN kind = 'fact' AND n.by = 'rules' THEN 'few' ELSE kind END AS kind, n,
  coalesce(one.id, other.id) AS start, coalesce(other.id, one.id) AS end
WHERE start IS NOT NULL
RETURN kind, collect(n.id) AS ids, collect(start) AS starts, collect(end) AS ends,
  collect(n.count) AS counts, collect(n.sources) AS sources,
  collect(coalesce(n.keywords, [])) AS keywords
ORDER BY kind
