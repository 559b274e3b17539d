// How many passages some graphs of a document have; with its text all of them go.
// $collection, $document  its collection, and its id; '' for what belongs to the collection itself
// $graphs                 their names
CYPHER 25
MATCH (passage:Passage {document: $document})
WHERE passage.collection = $collection AND ('text' IN $graphs OR passage.graph IN $graphs)
RETURN count(passage) AS passages
