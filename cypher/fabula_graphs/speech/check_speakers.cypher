// Quotations with several speakers or addressees, of another document, or called otherwise.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Quotation)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, CASE
  WHEN COUNT { (n)-[:SPOKEN_BY]->() } > 1 OR COUNT { (n)-[:SPOKEN_TO]->() } > 1
    THEN 'quotations have more than one speaker or addressee'
  WHEN EXISTS {
    MATCH (n)-[:SPOKEN_BY|SPOKEN_TO]->(end) WHERE NOT end:Entity OR end.document <> n.document
  } THEN 'quotations are spoken by or to what is no entity of their document'
  WHEN EXISTS { MATCH (n)-[:SPOKEN_BY]->(end) WHERE end.name <> n.speaker }
    OR EXISTS { MATCH (n)-[:SPOKEN_TO]->(end) WHERE end.name <> n.addressee }
    THEN 'quotations name their speakers otherwise than the entities are called'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
