// How many documents a collection has, and how many all others have together.
// $collection  its name
CYPHER 25
RETURN COUNT { (:Document {collection: $collection}) } AS documents, COUNT { (:Document) } AS all
