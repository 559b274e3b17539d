// What each document cost: calls and tokens of models, beside the length of its text.
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param limit => 50;
//   rows at most
CYPHER 25
MATCH (document:Document)
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
RETURN document.title AS title, document.collection AS collection, document.tokens AS tokens,
  document.calls AS calls, document.prompt_tokens AS prompt_tokens,
  document.completion_tokens AS completion_tokens, document.saved AS saved_calls,
  document.faults AS faults,
  CASE WHEN document.tokens > 0 THEN round(
    1.0 * (document.prompt_tokens + document.completion_tokens) / document.tokens, 2)
  END AS spent_per_token
ORDER BY prompt_tokens + completion_tokens DESC, title, document.id
LIMIT $limit
