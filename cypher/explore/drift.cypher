// Summaries least like what they summarise: those to read with care.
// No rows: no such document or aspect, or it has no summaries;
// `fabula ingest` makes them, unless --levels is 0 or --graphs leaves them out.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param aspect => '';
//   the name of an aspect; '' for all
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (space:Collection {name: $collection})
WITH CASE space.slot WHEN 2 THEN 'embedding_2' ELSE 'embedding' END AS embedding
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (summary:Passage&Summary {collection: $collection, document: document.id})
WHERE $aspect IN ['', summary.aspect]
MATCH (summary)-[:SUMMARIZES]->(member:Chunk|Summary {collection: $collection})
WITH document, summary, count(*) AS members,
  avg(2 * vector.similarity.cosine(summary[embedding], member[embedding]) - 1) AS cosine
ORDER BY summary.aspect
// Two aspects of the same passages can have the same text: it is told once.
WITH document, summary.level AS level, summary.text AS text, members, round(cosine, 3) AS cosine,
  collect(summary.aspect) AS aspects, collect(summary.id)[0] AS id
RETURN document.title AS title, aspects, level, members, cosine,
  left(replace(text, '\n', ' '), 120) AS text, id
ORDER BY cosine, title, id
LIMIT $limit
