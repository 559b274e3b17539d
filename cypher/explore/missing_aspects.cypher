// Aspects that no cluster was found to have: in which documents, and how often that happens.
// `percent` is the same in all rows: the share of documents in which an aspect was missing after the
// first round.
// No rows: no such document, or none has a graph `aspects` of more than one aspect.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 50;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (part:Part {collection: $collection, graph: 'aspects'})-[:PART_OF]->(document)
WHERE part.rounds > 0
WITH collect({title: document.title, id: document.id, part: part}) AS rows
WITH rows, size([row IN rows WHERE 1 IN row.part.missed_in]) AS lacking
UNWIND rows AS row
WITH row, round(100.0 * lacking / size(rows), 1) AS percent,
  range(0, size(row.part.missed) - 1) AS places
RETURN row.title AS title, row.part.rounds AS rounds,
  [place IN places WHERE row.part.missed_in[place] = 1 | row.part.missed[place]] AS missing_first,
  [place IN places WHERE row.part.missed_in[place] > 1 | row.part.missed[place]] AS missing_later,
  row.part.assigned AS assigned, percent
ORDER BY size(row.part.missed) DESC, title, row.id
LIMIT $limit
