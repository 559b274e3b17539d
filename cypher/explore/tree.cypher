// A picture of one tree: a top summary with all it rests on, to be seen in Neo4j Browser.
// No rows: no such document, or it has no summaries of that aspect; `outline` lists them.
// `fabula ingest` makes them, unless --levels is 0 or --graphs leaves them out.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param aspect => 'plot';
//   the aspect of the tree; '' for any
// :param limit => 200;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (top:Passage&Summary {collection: $collection, document: document.id})
WHERE $aspect IN ['', top.aspect]
  AND NOT EXISTS { (top)<-[:SUMMARIZES]-(:Summary {collection: $collection}) }
ORDER BY top.level DESC, top.end - top.start DESC, top.id
LIMIT 1
MATCH path = (top)
  ((:Summary)-[:SUMMARIZES]->(:Chunk|Summary {collection: $collection})){1,9} (:Chunk)
RETURN path
ORDER BY length(path), nodes(path)[-1].start
LIMIT $limit
