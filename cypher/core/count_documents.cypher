// How many documents a collection has, and how many all collections have.
// $collection  its name
// $limit       the most that are counted; all are read to be counted
CYPHER 25
RETURN COUNT {
    MATCH (one:Document) USING INDEX one:Document(collection, title_key, id)
    WHERE one.collection = $collection AND one.title_key >= '' AND one.id >= ''
    RETURN one LIMIT $limit
  } AS documents, COUNT { (:Document) } AS all
