// Parts that record another number of gaps than they have, and gaps that rest on nothing.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
CALL () {
  MATCH (part:Part)
  WHERE ($document = '' OR part.document = $document)
    AND ($collection = '' OR part.collection = $collection)
    // Of a collection's own, some went with a document.
    AND part.document <> ''
  WITH part, COUNT {
    MATCH (gap:Element&Gap {document: part.document})
    WHERE gap.graph = part.graph AND gap.collection = part.collection
  } AS gaps
  WHERE gaps <> coalesce(part.gaps, 0)
  RETURN part.document AS document, part.id AS node,
    'its graph ' + part.graph + ' has ' + gaps + ' gaps of ' + coalesce(part.gaps, 0) AS what
  UNION ALL
  MATCH (gap:Gap)
  WHERE ($document = '' OR gap.document = $document)
    AND ($collection = '' OR gap.collection = $collection)
    AND coalesce(gap.document, '-') <> ''
    AND NOT EXISTS { (gap)-[:LACKS]->() }
  RETURN gap.document AS document, gap.id AS node, 'gaps rest on nothing' AS what
}
RETURN document, min(node) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
