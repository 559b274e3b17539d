// All documents: how long they are and what was made of them.
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document)
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
RETURN document.title AS title, document.author AS author, document.collection AS collection,
  document.tokens AS tokens,
  count { (document)<-[:FROM_DOCUMENT]-(:Chunk) } AS chunks,
  count { (document)<-[:FROM_DOCUMENT]-(:Chunk)<-[:DETAILS]-(:Detail) } AS details,
  count { MATCH (summary:Summary) WHERE summary.document = document.id } AS summaries,
  substring(toString(document.updated_at), 0, 10) AS updated, document.id AS id
ORDER BY title, id
LIMIT $limit
