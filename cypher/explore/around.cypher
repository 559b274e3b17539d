// A picture of what is around a chunk: its neighbours, details and summaries, for Neo4j Browser.
// No rows: no such document, or it has no chunk of that number; the first is 0.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param index => 0;
//   the chunk's number in the book
// :param limit => 100;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id, index: $index})
CALL (chunk) {
  MATCH path = (chunk)-[:NEXT_CHUNK|FROM_DOCUMENT]-(:Chunk|Document {collection: $collection})
  RETURN path
  UNION
  MATCH path = (chunk)<-[:DETAILS]-(:Detail {collection: $collection})
  RETURN path
  UNION
  MATCH path = (chunk)<-[:SUMMARIZES]-(:Summary {collection: $collection})
  RETURN path
}
RETURN path
ORDER BY type(relationships(path)[0]), elementId(relationships(path)[0])
LIMIT $limit
