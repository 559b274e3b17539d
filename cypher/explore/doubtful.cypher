// Doubtful members: what a summary rests on with the least probability.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (summary:Passage&Summary {collection: $collection, document: document.id})
MATCH (summary)-[edge:SUMMARIZES]->(member:Chunk|Summary {collection: $collection})
RETURN document.title AS title, summary.aspect AS aspect, summary.level AS level,
  round(edge.weight, 3) AS weight, left(replace(summary.text, '\n', ' '), 100) AS text,
  member.section AS section, left(replace(member.text, '\n', ' '), 100) AS member_text
ORDER BY edge.weight, title, summary.id, member.id
LIMIT $limit
