// Where a book is most about what a summary says: how close the chunks of each part are to it.
// No rows: no such document, or no summary of that aspect or id in it; `outline` lists them.
// `fabula ingest` makes them, unless --levels is 0 or --graphs leaves them out.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param aspect => 'theme';
//   the aspect whose highest summary is taken; '' for any
// :param summary => '';
//   a summary's id, in the place of the highest
// :param parts => 10;
//   equal parts that the book is cut into, and rows
CYPHER 25
MATCH (space:Collection {name: $collection})
WITH CASE space.slot WHEN 2 THEN 'embedding_2' ELSE 'embedding' END AS embedding
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
WITH embedding, document
ORDER BY document.title, document.id
LIMIT 1
MATCH (summary:Passage&Summary {collection: $collection, document: document.id})
WHERE $summary IN ['', summary.id] AND ($summary <> '' OR $aspect IN ['', summary.aspect])
WITH embedding, document, summary
ORDER BY summary.level DESC, summary.end - summary.start DESC, summary.id
LIMIT 1
// Counted once, and not once for each chunk.
WITH embedding, document, summary,
  count { (document)<-[:FROM_DOCUMENT]-(:Chunk {collection: $collection}) } AS total
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WITH summary, chunk, chunk.index * $parts / total AS part,
  2 * vector.similarity.cosine(chunk[embedding], summary[embedding]) - 1 AS cosine
ORDER BY cosine DESC, chunk.index
WITH summary, part, collect(chunk)[0] AS closest, count(*) AS chunks, avg(cosine) AS mean
WITH summary, min(mean) AS low, max(mean) AS high,
  collect({number: part + 1, closest: closest, chunks: chunks, mean: mean}) AS parts
UNWIND parts AS part
RETURN summary.aspect AS aspect, part.number AS part, part.chunks AS chunks,
  round(part.mean, 3) AS cosine,
  reduce(bar = '', step IN range(1, CASE WHEN high > low
    THEN toInteger(20 * (part.mean - low) / (high - low)) ELSE 0 END) | bar + '#') AS bar,
  part.closest.section AS section, left(replace(part.closest.text, '\n', ' '), 100) AS closest
ORDER BY part
LIMIT $parts
