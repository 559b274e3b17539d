// Entities whose names, counts and merges do not go together, or that are counted otherwise.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Entity)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[from:FROM_CHUNK]->() RETURN from } AS places
WITH n, CASE
  WHEN size(n.names) <> size(n.counts) OR size(n.names) <> size(n.merged_by)
    THEN 'entities have names without counts'
  WHEN NOT n.name IN n.names THEN 'entities are called by none of their names'
  WHEN any(one IN places WHERE size(one.names) <> size(one.starts) OR size(one.names) <> one.count)
    THEN 'entities are printed at other places than are counted'
  WHEN reduce(sum = 0, one IN places | sum + one.count) <> n.mentions
    THEN 'entities have other mentions than are counted'
  WHEN COUNT { (:Relation)-[:SOURCE|TARGET]->(n) } <> n.degree
    THEN 'entities have other relations than are counted'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
