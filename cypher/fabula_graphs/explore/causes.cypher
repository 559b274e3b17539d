// Why: from a passage back to what brought it about, over links of cause, condition and purpose.
// No rows: no such document, nothing is told to be why that passage is so, or it has no graph of
// discourse; `fabula build discourse` makes one.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param index => -1;
//   the chunk to ask of, by its number in the book; -1 for that with the longest chain
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
MATCH (asked:Passage&Chunk {collection: $collection, document: document.id})
WHERE $index IN [-1, asked.index] AND asked.last <= $until
MATCH (asked) (
  (:Chunk {collection: $collection})<-[of:ARG1|ARG2]-(link:Link {collection: $collection})
    -[why:ARG1|ARG2]->(:Chunk {collection: $collection})
  WHERE type(of) <> type(why) AND type(why) = toUpper(link.cause)
    AND link.last <= $until
){1,50} (cause:Chunk)
WITH document, asked, cause, size(link) AS step, link[-1] AS link
WITH document, asked, max(step) AS longest,
  collect({step: step, link: link, chunk: cause}) AS causes
ORDER BY longest DESC, asked.index
LIMIT 1
UNWIND [{step: 0, link: null, chunk: asked}] + causes AS one
RETURN document.title AS title, one.step AS step, one.link.sense AS sense, one.link.form AS form,
  one.link.connective AS connective, one.chunk.index AS index,
  CASE one.chunk.section WHEN '' THEN '(no heading)' ELSE one.chunk.section END AS section,
  trim(one.chunk.text) AS text
ORDER BY step, index
LIMIT $limit
