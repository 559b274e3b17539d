// What the next ingest of a document needs to know of the last one, and when that was.
// $document  its id
CYPHER 25
MATCH (document:Document {id: $document})
RETURN document.assigned AS assigned, coalesce(document.changed, 0) AS changed,
  toString(document.updated_at) AS updated_at
