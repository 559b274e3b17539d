// Who and where: words with a capital inside sentences, by how often they are named.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 30;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WITH document, chunk,
  split(replace(replace(replace(chunk.text, '\n', ' '), '—', ' '), '--', ' '), ' ') AS words
ORDER BY chunk.index
UNWIND range(1, size(words) - 1) AS place
WITH document, chunk, words[place - 1] AS before,
  btrim(split(split(words[place], '’')[0], "'")[0], '.,;:!?()[]_*"“”‘-—') AS name
WHERE name =~ '(?U)\\p{Lu}\\p{Ll}+' AND before =~ '(?U).*\\p{L},?|Mrs?\\.|Dr\\.|St\\.'
WITH document, name, count(*) AS times, count(DISTINCT chunk) AS chunks,
  collect(DISTINCT chunk.section) AS sections
RETURN document.title AS title, name, times, chunks, size(sections) AS sections,
  sections[0] AS first, sections[-1] AS last
ORDER BY times DESC, title, name
LIMIT $limit
