// The fields of the documents of a collection, with how many have each, and its most frequent values.
// $collection  its name
// $values      how many values of each
CYPHER 25
MATCH (document:Document {collection: $collection})
UNWIND [name IN keys(document) WHERE name STARTS WITH 'meta_'] AS name
WITH name, collect([] + document[name]) AS each
CALL (each) {
  UNWIND each AS values
  UNWIND values AS value
  WITH value, count(*) AS times
  ORDER BY times DESC, toString(value)
  RETURN collect(value) AS found
}
RETURN name, size(each) AS documents, size(found) AS different, found[..$values] AS values
ORDER BY name
