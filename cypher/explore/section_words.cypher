// The words that mark each section: often there, and in few others.
// :param document => ''
//   a document's id, or a part of its title; '' for the first by title
// :param words => 8
//   words for each section
// :param limit => 50
//   rows at most
CYPHER 25
MATCH (document:Document)
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (chunk:Chunk {document: document.id})
WITH document, chunk.section AS section, min(chunk.index) AS place, collect(chunk.text) AS texts
WITH document, collect({name: section, place: place, texts: texts}) AS sections
WITH document, size(sections) AS total, sections
UNWIND sections AS section
WITH document, total, section.name AS section, section.place AS place, section.texts AS texts
UNWIND texts AS text
UNWIND split(toLower(replace(replace(text, '\n', ' '), '—', ' ')), ' ') AS one
WITH document, total, section, place, btrim(one, '.,;:!?()[]_*"“”‘-—') AS word
WHERE size(word) > 3
WITH document, total, section, place, word, count(*) AS times
WITH document, total, word, collect({section: section, place: place, times: times}) AS found
UNWIND found AS one
WITH document, one.section AS section, one.place AS place, word,
  one.times * log(1.0 * total / size(found)) AS score
ORDER BY score DESC, word
WHERE score > 0
WITH document, section, place, collect(word)[..$words] AS words
RETURN document.title AS title, section, words
ORDER BY place
LIMIT $limit
