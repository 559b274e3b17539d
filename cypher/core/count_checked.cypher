// How many passages there are.
// $collection  the collection to count in, or '' for all
// $document    the id of the one to count in, or '' for all
CYPHER 25
MATCH (passage:Passage)
WHERE ($document = '' OR passage.document = $document)
  AND ($collection = '' OR passage.collection = $collection)
RETURN count(*) AS passages
