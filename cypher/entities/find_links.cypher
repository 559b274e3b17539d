// The relations, triples and facts of a collection or of a document as columns: a row of lists for
// each kind. Where only one end of a triple or a fact is an entity, it is both ends here; where
// none is, the triple or fact is left out.
// $collection                      name of the collection
// $first_document, $last_document  the id of a document twice, or '' and the last character for all
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND ['relation', 'triple', 'fact'] AS kind
MATCH (n:Element {collection: $collection, kind: kind})
WHERE n.document >= $first_document AND n.document <= $last_document AND n.since <= $until
OPTIONAL MATCH (n)-[:SOURCE|SUBJECT]->(source:Entity {collection: $collection})
OPTIONAL MATCH (n)-[:TARGET|OBJECT]->(target:Entity {collection: $collection})
WITH kind, n, coalesce(source.id, target.id) AS start,
  coalesce(target.id, source.id) AS end
WHERE start IS NOT NULL
RETURN kind, collect(n.id) AS ids, collect(start) AS starts, collect(end) AS ends,
  collect(n.count) AS counts, collect(n.sources) AS sources,
  collect(CASE WHEN n.last <= $until THEN coalesce(n.keywords, []) ELSE [] END) AS keywords
ORDER BY kind
