// Where some words are densest along a book: how many chunks of each part have them.
// No rows: no such document; words that it doesn't have are counted as 0.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param words => 'love|heart|friend';
//   words to find, whole, either case (a regular expression)
// :param parts => 10;
//   equal parts that the book is cut into, and rows
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
// The words without accents, as the chunks have them in `search_text`.
WITH document, reduce(folded = '', letter IN split(normalize($words, NFKD), '') |
    CASE WHEN letter =~ '[\\u0300-\\u036f]' THEN folded ELSE folded + letter END) AS folded_words
// Counted once, and not once for each chunk.
WITH document, folded_words,
  count { (document)<-[:FROM_DOCUMENT]-(:Chunk {collection: $collection}) } AS total
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WITH document, chunk, chunk.index * $parts / total AS part,
  chunk.text =~ '(?isU).*\\b(' + $words + ')\\b.*'
    OR chunk.search_text =~ '(?isU).*\\b(' + folded_words + ')\\b.*' AS has
ORDER BY chunk.index
WITH document, part, collect(chunk.section)[0] AS section, count(*) AS chunks,
  sum(CASE WHEN has THEN 1 ELSE 0 END) AS found
RETURN document.title AS title, part + 1 AS part, section AS begins_in, chunks, found,
  100 * found / chunks AS percent,
  reduce(bar = '', step IN range(1, 20 * found / chunks) | bar + '#') AS bar
ORDER BY part
LIMIT $parts
