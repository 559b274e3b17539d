// What a summary rests on, level by level down to the text, with how strongly.
// No rows: no summary has that id in this collection, or there are none;
// `fabula ingest` makes them, unless --levels is 0 or --graphs leaves them out.
// :param collection => 'default';
//   the collection to stay in
// :param summary => '';
//   a summary's id; '' for the highest of the graph
// :param limit => 50;
//   rows at most
CYPHER 25
MATCH (summary:Passage&Summary {collection: $collection})
WHERE $summary IN ['', summary.id]
ORDER BY summary.level DESC, summary.document, summary.aspect, summary.start, summary.id
LIMIT 1
MATCH path = (summary)
  ((:Summary)-[:SUMMARIZES]->(:Chunk|Summary {collection: $collection})){0,9} (below:Chunk|Summary)
WITH below, max(reduce(weight = 1.0, edge IN relationships(path) | weight * edge.weight)) AS weight
RETURN below.level AS level, below.kind AS kind, below.aspect AS aspect,
  round(weight, 3) AS weight, below.section AS section,
  left(replace(below.text, '\n', ' '), 160) AS text, below.id AS id
ORDER BY level DESC, below.start, id
LIMIT $limit
