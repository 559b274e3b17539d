// A book by its details: what was condensed from each chunk, or the details with some words.
// No rows: no such document, no such words in its details, or it has no details;
// `fabula ingest` makes them, unless --details is 0 or --graphs leaves them out.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param words => '';
//   words to find, as ghost|spirit (a regular expression); '' for all
// :param limit => 50;
//   rows at most
// :param until => 4611686018427387904;
//   how many characters the reader has read, or a place as 'Stave Two'; the default is all
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
// The words without accents, as the details have them in `search_text`.
WITH document, reduce(folded = '', letter IN split(normalize($words, NFKD), '') |
    CASE WHEN letter =~ '[\\u0300-\\u036f]' THEN folded ELSE folded + letter END) AS folded_words
MATCH (detail:Passage&Detail {collection: $collection, document: document.id})
MATCH (detail)-[:DETAILS]->(chunk:Chunk {collection: $collection})
WHERE detail.last <= $until AND ($words = '' OR detail.text =~ '(?isU).*\\b(' + $words + ')\\b.*'
  OR detail.search_text =~ '(?isU).*\\b(' + folded_words + ')\\b.*')
RETURN document.title AS title, chunk.section AS section, chunk.index AS chunk,
  detail.text AS text, detail.id AS id
ORDER BY chunk, detail.ordinal
LIMIT $limit
