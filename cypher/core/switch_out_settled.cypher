// Takes out of every reader's sight what a collection's own parts tell of a document's: what is tied
// to nodes of it, and what was made of it, as ties go where a document is replaced.
// $collection, $document  its collection, and its id
// $graph                  the name of the graph that it was made of; '' for any
CYPHER 25
CALL () {
  CALL () {
    MATCH (one:Passage {document: $document}) RETURN one
    UNION ALL
    MATCH (one:Element {document: $document}) RETURN one
  }
  WITH one
  WHERE one.collection = $collection AND $graph IN ['', one.graph]
  MATCH (one)<--(n:Passage|Element {document: ''})
  RETURN n
  UNION ALL
  CALL () {
    MATCH (n:Passage)
    WHERE n.collection = $collection AND n.kind >= '' AND n.document = ''
    RETURN n
    UNION ALL
    MATCH (n:Element)
    WHERE n.collection = $collection AND n.kind >= '' AND n.document = ''
    RETURN n
  }
  WITH n
  WHERE any(part IN coalesce(n.of, []) WHERE part ENDS WITH '/' + $document
    AND $graph IN ['', split(part, '/')[-2]])
  RETURN n
}
WITH n
WHERE n.collection = $collection AND $document <> ''
WITH DISTINCT n
// The indexes of vectors and words let go of a node when it is deleted: here that would hold readers.
REMOVE n:$([label IN labels(n) WHERE NOT label =~ '(Passage|Element)(Text|[0-9]+)'])
SET n:Retired
RETURN count(n) AS nodes
