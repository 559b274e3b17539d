// What each graph of a document cost: calls and tokens of models, beside the length of its text.
// No rows: no such document. 0 calls: it was made offline, or from the cache.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 50;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
MATCH (part:Part {collection: $collection})-[:PART_OF]->(document)
RETURN document.title AS title, part.graph AS graph, document.tokens AS tokens,
  part.calls AS calls, part.prompt_tokens AS prompt_tokens,
  part.completion_tokens AS completion_tokens, part.saved AS saved_calls, part.faults AS faults,
  CASE WHEN document.tokens > 0
    THEN round(1.0 * (part.prompt_tokens + part.completion_tokens) / document.tokens, 2)
  END AS spent_per_token
ORDER BY prompt_tokens + completion_tokens DESC, title, document.id, graph
LIMIT $limit
