// How two characters' chapters overlap: chunks of each section that name one, the other, both.
// No rows: no such document; names that it doesn't have are counted as 0.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param first => 'he';
//   a name, whole, either case; several names of one person as Fred|nephew
// :param second => 'she';
//   another name
// :param limit => 1000;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
// The names without accents, as the chunks have them in `search_text`.
WITH document, [name IN [$first, $second] | reduce(
  folded = '', letter IN split(normalize(name, NFKD), '') |
    CASE WHEN letter =~ '[\\u0300-\\u036f]' THEN folded ELSE folded + letter END)] AS names
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WITH document, chunk, chunk.text =~ '(?isU).*\\b(' + $first + ')\\b.*'
    OR chunk.search_text =~ '(?isU).*\\b(' + names[0] + ')\\b.*' AS one,
  chunk.text =~ '(?isU).*\\b(' + $second + ')\\b.*'
    OR chunk.search_text =~ '(?isU).*\\b(' + names[1] + ')\\b.*' AS other
WITH document, chunk.section AS section, min(chunk.index) AS place, count(*) AS chunks,
  sum(CASE WHEN one THEN 1 ELSE 0 END) AS first,
  sum(CASE WHEN other THEN 1 ELSE 0 END) AS second,
  sum(CASE WHEN one AND other THEN 1 ELSE 0 END) AS both
RETURN document.title AS title,
  CASE section WHEN '' THEN '(no heading)' ELSE section END AS section, chunks, first, second, both,
  CASE WHEN first + second - both > 0
    THEN round(100.0 * both / (first + second - both), 1) END AS percent
ORDER BY place
LIMIT $limit
