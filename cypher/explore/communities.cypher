// Who belongs together in a book: its communities, level by level, the most mentioned first.
// No rows: no such document or level, or it has no communities; `fabula build communities` makes them.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param level => -1;
//   0 is the coarsest; -1 for all
// :param limit => 30;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (one:Element&Community {collection: $collection, document: document.id})
WHERE $level IN [-1, one.level]
OPTIONAL MATCH (report:Element&Report {collection: $collection})-[:REPORTS]->(one)
CALL (one) {
  MATCH (one)-[:HAS_MEMBER]->(member:Entity {collection: $collection})
  ORDER BY member.mentions DESC, member.name
  RETURN collect(member.name)[..8] AS members
}
RETURN document.title AS title, one.level AS level, coalesce(report.title, one.title) AS community,
  one.size AS size, one.chunks AS chunks, round(one.weight, 2) AS weight,
  report.importance AS importance, members, one.id AS id
ORDER BY level, one.weight DESC, size DESC, id
LIMIT $limit
