// One report with what it rests on: its text, whom and what it cites, and its chunks in the text.
// No rows: no report has that id in this collection, or there are none;
// `fabula build communities` makes them.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param report => '';
//   the id of a report or of its community; '' for the most important of the coarsest
// :param limit => 50;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (report:Element&Report {collection: $collection, document: document.id})
  -[:REPORTS]->(community:Community {collection: $collection})
WHERE $report IN ['', report.id, community.id]
ORDER BY report.level, report.importance DESC, community.weight DESC, report.id
LIMIT 1
CALL (report) {
  RETURN 0 AS turn, 'report' AS what, report.title AS title, report.text AS text, report AS node
  UNION ALL
  MATCH (report)-[:CITES]->(node:Entity|Relation|Claim {collection: $collection})
  RETURN CASE WHEN node:Entity THEN 1 WHEN node:Relation THEN 2 ELSE 3 END AS turn,
    node.kind AS what, node.name AS title, node.text AS text, node
  UNION ALL
  MATCH (node:Passage&Chunk {collection: $collection})
  WHERE node.id IN report.sources
  RETURN 4 AS turn, 'chunk' AS what, node.name AS title, node.text AS text, node
}
RETURN what, title,
  CASE turn WHEN 0 THEN text ELSE left(replace(text, '\n', ' '), 160) END AS text,
  node.section AS section, node.start AS first_character,
  node.end AS last_character, report.importance AS importance,
  node.id AS id
ORDER BY turn, first_character, id
LIMIT $limit
