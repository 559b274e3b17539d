// Aspects that a document's trees were built for and that none of its summaries has.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (part:Part {graph: 'aspects'})
WHERE ($document = '' OR part.document = $document)
  AND ($collection = '' OR part.collection = $collection)
UNWIND part.aspects AS aspect
WITH part.document AS document, aspect
WHERE NOT EXISTS {
  MATCH (summary:Passage {document: document})
  WHERE summary:Summary AND summary.aspect = aspect
}
RETURN document, document AS id, 1 AS count, 'no summary is about ' + aspect AS what
ORDER BY document, what
LIMIT $limit
