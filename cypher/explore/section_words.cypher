// The words that mark each section: more frequent there than in the whole book.
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
ORDER BY document.title, document.id
LIMIT 1
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WITH document, chunk.section AS name, min(chunk.index) AS place, sum(chunk.tokens) AS tokens,
  collect(chunk.text) AS texts
WITH document, sum(tokens) AS total,
  collect({name: name, place: place, tokens: tokens, texts: texts}) AS sections
UNWIND sections AS section
UNWIND section.texts AS text
UNWIND split(replace(replace(replace(toLower(text), '\n', ' '), '—', ' '), '--', ' '), ' ') AS one
WITH document, total, section.name AS name, section.place AS place, section.tokens AS tokens,
  btrim(one, '.,;:!?()[]_*"“”‘’-\'') AS word
WHERE size(word) > 4
WITH document, total, name, place, tokens, word, count(*) AS times
WITH document, total, word, sum(times) AS everywhere,
  collect({name: name, place: place, tokens: tokens, times: times}) AS found
UNWIND found AS one
WITH document, one.name AS name, one.place AS place, word,
  one.times * log(1.0 * one.times / one.tokens * total / everywhere) AS score
ORDER BY score DESC, word
WHERE score > 0
WITH document, name, place, collect(word)[..$words] AS words
RETURN document.title AS title, name AS section, words
ORDER BY place
LIMIT $limit
