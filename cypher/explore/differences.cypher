// What the first document tells and the second does not: summaries with the least like them there.
// :param collection => 'default';
//   the collection to stay in
// :param first => '';
//   a document's id, or a part of its title; '' for the first by title
// :param second => '';
//   the other one; '' for the first by title that is not the first
// :param aspect => '';
//   the name of an aspect; '' for all
// :param level => 1;
//   the level of the summaries that are compared
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (space:Collection {name: $collection})
WITH CASE space.slot WHEN 2 THEN 'embedding_2' ELSE 'embedding' END AS embedding
MATCH (first:Document {collection: $collection})
WHERE first.id = $first OR toLower(first.title) CONTAINS toLower($first)
WITH embedding, first
ORDER BY first.title, first.id
LIMIT 1
MATCH (second:Document {collection: $collection})
WHERE second <> first
  AND (second.id = $second OR toLower(second.title) CONTAINS toLower($second))
WITH embedding, first, second
ORDER BY second.title, second.id
LIMIT 1
MATCH (one:Passage&Summary {collection: $collection, document: first.id, level: $level})
MATCH (other:Passage&Summary {collection: $collection, document: second.id, level: $level})
WHERE one.aspect = other.aspect AND $aspect IN ['', one.aspect]
WITH first, second, one, other,
  2 * vector.similarity.cosine(one[embedding], other[embedding]) - 1 AS cosine
ORDER BY cosine DESC, other.id
WITH first, second, one, max(cosine) AS cosine, head(collect(other)) AS closest
RETURN first.title AS first, one.aspect AS aspect, one.section AS section,
  left(replace(one.text, '\n', ' '), 120) AS text, round(cosine, 3) AS cosine,
  second.title AS second, left(replace(closest.text, '\n', ' '), 120) AS closest
ORDER BY cosine, one.id
LIMIT $limit
