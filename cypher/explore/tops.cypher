// The top of every tree: summaries that no other summary rests on, and how much text they reach.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param aspect => '';
//   the name of an aspect; '' for all
// :param limit => 50;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
MATCH (top:Passage&Summary {collection: $collection, document: document.id})
WHERE $aspect IN ['', top.aspect]
  AND NOT EXISTS { (top)<-[:SUMMARIZES]-(:Summary {collection: $collection}) }
WITH document, top,
  count { (document)<-[:FROM_DOCUMENT]-(:Chunk {collection: $collection}) } AS total,
  COUNT {
    MATCH (top)
      ((:Summary)-[:SUMMARIZES]->(:Chunk|Summary {collection: $collection})){1,9} (chunk:Chunk)
    RETURN DISTINCT chunk
  } AS chunks
RETURN document.title AS title, top.aspect AS aspect, top.level AS level, chunks,
  round(100.0 * chunks / total, 1) AS percent, left(replace(top.text, '\n', ' '), 160) AS text,
  top.id AS id
ORDER BY title, document.id, aspect, level DESC, chunks DESC, id
LIMIT $limit
