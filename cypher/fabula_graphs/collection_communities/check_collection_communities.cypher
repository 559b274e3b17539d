// Communities that do not divide those above them, or that hold others than they say.
// $collection  name of a collection, or '' for all
// $document    id of a document, or '' for all
// $limit       maximum number of rows
CYPHER 25
MATCH (n:CollectionCommunity)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:HAS_MEMBER]->(member) RETURN member } AS members,
  COLLECT { MATCH (n)-[:PARENT_COMMUNITY]->(parent) RETURN parent } AS parents
WITH n, CASE
  WHEN size(members) < n.size
    THEN 'communities have fewer entities than they have members'
  WHEN any(member IN members WHERE NOT member:Entity)
    THEN 'communities have members that are not entities'
  WHEN size(parents) <> CASE n.level WHEN 0 THEN 0 ELSE 1 END
    THEN 'communities do not have the right number of parents'
  WHEN any(parent IN parents WHERE parent.level <> n.level - 1)
    THEN 'communities have a parent that is not one level above them'
  WHEN any(parent IN parents WHERE any(member IN members WHERE NOT EXISTS {
    MATCH (parent)-[:HAS_MEMBER]->(member) }))
    THEN 'communities have members that their parent lacks'
  WHEN EXISTS { MATCH (n)-[:HAS_MEMBER]->()<-[:HAS_MEMBER]-(other:CollectionCommunity)
    WHERE other.level = n.level AND other <> n }
    THEN 'communities of one level share a member'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
