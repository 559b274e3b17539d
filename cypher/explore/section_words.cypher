// The words that mark each section: half as frequent again there as in the whole book.
// No rows: no such document, or it is one section: words mark a section among others.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param words => 8;
//   words for each section
// :param limit => 50;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WITH document, chunk.section AS name, min(chunk.index) AS place, sum(chunk.tokens) AS tokens,
  collect(chunk.text) AS texts
WITH document, sum(tokens) AS total, count(*) AS count,
  collect({name: name, place: place, tokens: tokens, texts: texts}) AS sections
UNWIND sections AS section
UNWIND section.texts AS text
UNWIND split(replace(replace(replace(toLower(text), '\n', ' '), '—', ' '), '--', ' '), ' ') AS one
WITH document, total, count, section.name AS name, section.place AS place, section.tokens AS tokens,
  btrim(one, '.,;:!?()[]_*"“”‘’-\'') AS one
WITH document, total, count, name, place, tokens,
  CASE WHEN one =~ '.*[\'’]s' THEN left(one, size(one) - 2) ELSE one END AS word
WHERE size(word) > 4
WITH document, total, count, name, place, tokens, word, count(*) AS times
WITH document, total, count, word, sum(times) AS everywhere,
  collect({name: name, place: place, tokens: tokens, times: times}) AS found
// A word of most sections, such as 'there', marks none of them.
FILTER count < 4 OR 3 * size(found) <= 2 * count
UNWIND found AS one
WITH document, one.name AS name, one.place AS place, word, one.times AS times,
  1.0 * one.times / one.tokens * total / everywhere AS ratio
WHERE ratio > 1.5
WITH document, name, place, word, times * log(ratio) AS score
ORDER BY score DESC, word
WITH document, name, place, collect(word)[..$words] AS words
RETURN document.title AS title, CASE name WHEN '' THEN '(no heading)' ELSE name END AS section,
  words
ORDER BY place
LIMIT $limit
