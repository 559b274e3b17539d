// Communities that do not divide those above them, or that hold others than they say.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:CollectionCommunity)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:HAS_MEMBER]->(one) RETURN one } AS members,
  COLLECT { MATCH (n)-[:PARENT_COMMUNITY]->(above) RETURN above } AS above
WITH n, CASE
  WHEN size(members) < n.size
    THEN 'communities have fewer entities than they have members'
  WHEN any(one IN members WHERE NOT one:Entity) THEN 'communities have members that are no entities'
  WHEN size(above) <> CASE n.level WHEN 0 THEN 0 ELSE 1 END
    THEN 'communities are not part of one above them'
  WHEN any(one IN above WHERE one.level <> n.level - 1)
    THEN 'communities are part of one that is not a level above them'
  WHEN any(one IN above WHERE any(member IN members WHERE NOT EXISTS {
    MATCH (one)-[:HAS_MEMBER]->(member) }))
    THEN 'communities have members that the one above them has not'
  WHEN EXISTS { MATCH (n)-[:HAS_MEMBER]->()<-[:HAS_MEMBER]-(other:CollectionCommunity)
    WHERE other.level = n.level AND other <> n }
    THEN 'communities of one level share a member'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
