// Two documents side by side: their passages by kind, aspect and level.
// :param collection => 'default';
//   the collection to stay in
// :param first => '';
//   a document's id, or a part of its title; '' for the first by title
// :param second => '';
//   the other one; '' for the first by title that is not the first
// :param limit => 50;
//   rows at most
CYPHER 25
MATCH (first:Document {collection: $collection})
WHERE first.id = $first OR toLower(first.title) CONTAINS toLower($first)
ORDER BY first.title, first.id
LIMIT 1
MATCH (second:Document {collection: $collection})
WHERE second <> first
  AND (second.id = $second OR toLower(second.title) CONTAINS toLower($second))
WITH first, second
ORDER BY second.title, second.id
LIMIT 1
MATCH (passage:Passage {collection: $collection})
WHERE passage.document IN [first.id, second.id]
WITH first, second, passage.kind AS kind, passage.aspect AS aspect, passage.level AS level,
  sum(CASE passage.document WHEN first.id THEN 1 ELSE 0 END) AS in_first,
  sum(CASE passage.document WHEN second.id THEN 1 ELSE 0 END) AS in_second,
  avg(CASE passage.document WHEN first.id THEN passage.tokens END) AS tokens_first,
  avg(CASE passage.document WHEN second.id THEN passage.tokens END) AS tokens_second
RETURN first.title AS first, second.title AS second, kind, aspect, level, in_first, in_second,
  round(tokens_first, 1) AS mean_tokens_first, round(tokens_second, 1) AS mean_tokens_second
ORDER BY kind, aspect, level
LIMIT $limit
