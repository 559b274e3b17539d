// Which summaries rest on a passage: from the first chunk that has some words, upward.
// No rows: no such document, or none of its chunks has the words; summaries above it:
// `fabula ingest` makes them, unless --levels is 0 or --graphs leaves them out.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param words => '';
//   words to find, as stone|knocker (a regular expression); '' for the first chunk
// :param limit => 20;
//   rows at most
// :param until => 4611686018427387904;
//   how many characters the reader has read, or a place as 'Stave Two'; the default is all
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
// The words without accents, as the chunks have them in `search_text`.
WITH document, reduce(folded = '', letter IN split(normalize($words, NFKD), '') |
    CASE WHEN letter =~ '[\\u0300-\\u036f]' THEN folded ELSE folded + letter END) AS folded_words
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WHERE chunk.last <= $until AND (chunk.text =~ '(?isU).*\\b(' + $words + ')\\b.*'
  OR chunk.search_text =~ '(?isU).*\\b(' + folded_words + ')\\b.*')
WITH chunk
ORDER BY chunk.index
LIMIT 1
MATCH path = (chunk)
  ((:Chunk|Summary)<-[:SUMMARIZES]-(:Summary {collection: $collection})){0,9} (above:Chunk|Summary)
WHERE above.last <= $until
WITH above, max(reduce(weight = 1.0, edge IN relationships(path) | weight * edge.weight)) AS weight
RETURN above.level AS level, above.kind AS kind, above.aspect AS aspect,
  round(weight, 3) AS weight, above.section AS section,
  left(replace(above.text, '\n', ' '), 160) AS text, above.id AS id
ORDER BY level, aspect, weight DESC, id
LIMIT $limit
