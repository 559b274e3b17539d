// Terms that no event has, or that are of other chunks than those, or stand for whom they can't.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Term)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (event:Event)-[]->(n) RETURN event } AS events,
  COLLECT { MATCH (:Event)-[tie]->(n) RETURN DISTINCT type(tie) } AS types,
  COLLECT { MATCH (:Event)-[]->(n) RETURN count(*) } AS uses
WITH n, CASE
  WHEN coalesce(trim(n.key), '') = '' THEN 'terms have no key'
  WHEN size(events) = 0 THEN 'terms are of no event'
  WHEN types <> [toUpper(n.slot)] THEN 'terms are of another slot than their events have them in'
  WHEN uses <> [n.count] THEN 'terms are used another number of times than is counted'
  WHEN NOT all(event IN events WHERE event.sources[0] IN n.sources)
    THEN 'terms rest on other chunks than their events'
  WHEN EXISTS {
    MATCH (n)-[:IS]->(end)
    WHERE NOT end:Entity OR end.document <> n.document OR NOT n.slot IN ['who', 'where']
  } THEN 'terms stand for what is no entity of their document'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
