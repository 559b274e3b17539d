// How many summaries some documents have by aspect.
// $collection, $documents  their collection, and their ids
CYPHER 25
UNWIND $documents AS document
MATCH (passage:Passage {collection: $collection, kind: 'summary', document: document})
  USING INDEX SEEK passage:Passage(collection, kind, document)
RETURN document, passage.aspect AS aspect, count(*) AS summaries
ORDER BY document, aspect
