// How many documents a collection has, and how many all collections have.
// $collection  its name
CYPHER 25
RETURN COUNT {
    MATCH (one:Document) USING INDEX one:Document(collection, title_key, id)
    WHERE one.collection = $collection AND one.title_key >= '' AND one.id >= ''
  } AS documents, COUNT { (:Document) } AS all
