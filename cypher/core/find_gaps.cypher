// The gaps of a document's graphs, in text order, with what each would rest on.
// $collection, $document  its collection, and its id
CYPHER 25
MATCH (gap:Element&Gap {document: $document})
WHERE gap.collection = $collection
RETURN gap.graph AS graph, gap.sources AS sources,
  gap {
    .*, id: null, collection: null, document: null, graph: null, kind: null, sources: null,
    run: null, labels: null, search_text: null, search_terms: null, search_length: null,
  last: null, since: null,
    tenant: null
  } AS properties,
  COLLECT {
    MATCH (gap)-[lacks:LACKS]->(end:Passage|Element)
    RETURN {id: end.id, weight: lacks.weight} ORDER BY end.id
  } AS rests_on
ORDER BY graph, gap.start, gap.end, gap.id
