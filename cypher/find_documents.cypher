// All documents of a collection, or of all, with what they cost.
// $collection  its name, or '' for all
CYPHER 25
MATCH (document:Document)
WHERE $collection = '' OR document.collection = $collection
RETURN document.id AS id, document.collection AS collection, document.title AS title,
  document.author AS author, document.language AS language, document.source AS source,
  document.sha256 AS sha256, document.tokens AS tokens, document.settings AS settings,
  document.usage AS usage, document.assigned AS assigned,
  toString(document.created_at) AS created_at, toString(document.updated_at) AS updated_at
ORDER BY collection, title, id
