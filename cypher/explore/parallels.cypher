// Parallels of two documents: each summary of the first, and the one of the second most like it.
// No rows: there are not two such documents with summaries of one aspect at that level;
// `fabula ingest` makes them, unless --levels is 0 or --graphs leaves them out.
// :param collection => 'default';
//   the collection to stay in
// :param first => '';
//   a document's id, or a part of its title; '' for the first by title
// :param second => '';
//   a document's id, or a part of its title; '' for the first by title that is not the first
// :param aspect => '';
//   the name of an aspect; '' for all
// :param level => 1;
//   the level of the summaries that are compared
// :param least => false;
//   true for the least alike first: what the first tells and the second does not
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (space:Collection {name: $collection})
WITH CASE space.slot WHEN 2 THEN 'embedding_2' ELSE 'embedding' END AS embedding
MATCH (first:Document {collection: $collection})
WHERE first.id = $first OR toLower(first.title) CONTAINS toLower($first)
  OR first.title_key CONTAINS toLower($first)
WITH embedding, first
ORDER BY first.title, first.id
LIMIT 1
MATCH (second:Document {collection: $collection})
WHERE second <> first
  AND (second.id = $second OR toLower(second.title) CONTAINS toLower($second)
    OR second.title_key CONTAINS toLower($second))
WITH embedding, first, second
ORDER BY second.title, second.id
LIMIT 1
MATCH (summary:Passage&Summary {collection: $collection, document: first.id, level: $level})
MATCH (other:Passage&Summary {collection: $collection, document: second.id, level: $level})
WHERE summary.aspect = other.aspect AND $aspect IN ['', summary.aspect]
WITH first, second, summary, other,
  2 * vector.similarity.cosine(summary[embedding], other[embedding]) - 1 AS cosine
ORDER BY cosine DESC, summary.id, other.id
WITH first, second, summary, max(cosine) AS cosine, head(collect(other)) AS other
// Two aspects of the same passages can have the same text: it is told once, with its closest.
ORDER BY cosine DESC, summary.aspect
WITH first, second, summary.text AS text, collect(summary.aspect) AS aspects, summary.section AS section,
  max(cosine) AS cosine, head(collect(other)) AS other
RETURN first.title AS first, aspects, section, left(replace(text, '\n', ' '), 120) AS text,
  round(cosine, 3) AS cosine, second.title AS second, other.section AS other_section,
  left(replace(other.text, '\n', ' '), 120) AS other_text
ORDER BY CASE WHEN $least THEN cosine ELSE -cosine END, text
LIMIT $limit
