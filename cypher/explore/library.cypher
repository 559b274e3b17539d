// All documents: how long they are and what was made of them.
// No rows: no such document, or nothing is in the collection yet; `fabula ingest` fills it.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
RETURN document.title AS title, document.author AS author, document.tokens AS tokens,
  COLLECT {
    MATCH (part:Part {collection: $collection})-[:PART_OF]->(document)
    RETURN part.graph ORDER BY part.graph
  } AS graphs,
  count { (:Passage&Chunk {collection: $collection, document: document.id}) } AS chunks,
  count { (:Passage&Detail {collection: $collection, document: document.id}) } AS details,
  count { (:Passage&Summary {collection: $collection, document: document.id}) } AS summaries,
  substring(toString(document.updated_at), 0, 10) AS updated, document.id AS id
ORDER BY title, id
LIMIT $limit
