// Who and where: words that a book writes with a capital, by how often; not titles and days.
// No rows: no such document, or no word in it has a capital inside sentences, as in scripts
// without capitals.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param without => 'Ah|Oh|Mr|Mrs|Miss|Ms|Dr|Sir|Madam|Lady|Lord|God|Heaven|Jove|St|(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|June|July|August|September|October|November|December';
//   words that are no names (a regular expression); in other languages, others
// :param limit => 30;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WITH document, chunk,
  split(replace(replace(replace(chunk.text, '\n', ' '), '—', ' '), '--', ' '), ' ') AS words
ORDER BY chunk.index
UNWIND range(0, size(words) - 1) AS place
WITH document, chunk, CASE place WHEN 0 THEN '' ELSE words[place - 1] END AS before,
  btrim(split(split(words[place], '’')[0], "'")[0], '.,;:!?()[]_*"“”‘-—') AS word
WHERE word =~ '(?U)\\p{L}\\p{Ll}+'
WITH document, toLower(word) AS key, chunk, word, word <> toLower(word) AS capital,
  before =~ '(?U).*\\p{L},?|(Mrs?|Dr|St)\\.' AS inside
WITH document, key, collect(DISTINCT CASE WHEN capital THEN chunk END) AS chunks,
  max(CASE WHEN capital THEN word END) AS name,
  sum(CASE WHEN capital THEN 1 ELSE 0 END) AS times,
  sum(CASE WHEN capital AND inside THEN 1 ELSE 0 END) AS inside,
  sum(CASE WHEN capital THEN 0 ELSE 1 END) AS small
// Any word has a capital at the beginning of a sentence; a name often inside it, and seldom none.
WHERE 5 * inside >= times AND 3 * small < times AND NOT name =~ $without
RETURN document.title AS title, name, times, size(chunks) AS chunks,
  size(COLLECT { UNWIND chunks AS one RETURN DISTINCT one.section }) AS sections,
  chunks[0].section AS first_section, chunks[-1].section AS last_section
ORDER BY times DESC, name
LIMIT $limit
