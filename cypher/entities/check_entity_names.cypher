// Entities whose names, counts and reasons of merges do not match, or whose totals are wrong.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:Entity)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[from:FROM_CHUNK]->() RETURN from } AS places
WITH n, CASE
  WHEN size(n.names) <> size(n.counts) OR size(n.names) <> size(n.merged_by)
    THEN 'entities have names without counts or reasons'
  WHEN NOT n.name IN n.names THEN 'entities have a name that is not among their names'
  WHEN any(place IN places WHERE size(place.names) <> size(place.starts)
    OR size(place.names) <> place.count)
    THEN 'entities have chunks whose places and counts do not match'
  WHEN reduce(sum = 0, place IN places | sum + place.count) <> n.mentions
    THEN 'entities have a wrong number of mentions in their properties'
  WHEN COUNT { (:Relation)-[:SOURCE|TARGET]->(n) } <> n.degree
    THEN 'entities have a wrong number of relations in their properties'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
