// Episodes that comprise nothing, the wrong levels, another document's, or other chunks than theirs.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Episode)
WHERE ($document = '' OR n.document = $document)
  AND ($collection = '' OR n.collection = $collection)
WITH n, COLLECT { MATCH (n)-[:COMPRISES]->(member) RETURN member ORDER BY member.start } AS members
WITH n, CASE
  WHEN size(members) = 0 THEN 'episodes comprise nothing'
  WHEN any(member IN members WHERE member.document <> n.document)
    THEN 'episodes comprise what is in another document'
  WHEN n.level = 1 AND NOT all(member IN members WHERE member:Chunk)
    THEN 'episodes of level 1 comprise what is no chunk'
  WHEN n.level > 1 AND NOT all(member IN members WHERE member:Episode AND member.level < n.level)
    THEN 'episodes above level 1 comprise what is no episode of a lower level'
  WHEN n.start <> members[0].start OR n.end <> members[-1].end
    THEN 'episodes begin or end elsewhere than what they comprise'
  WHEN size(n.sources) <> reduce(count = 0, member IN members |
      count + CASE WHEN member:Chunk THEN 1 ELSE size(member.sources) END)
    THEN 'episodes rest on other chunks than what they comprise'
END AS what
WHERE what IS NOT NULL
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
