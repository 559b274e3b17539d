// A page of a collection's documents in one of several orders, with the parts of their graphs.
// $collection     its name
// $words          words that a title or an author contains, folded; '' for all
// $language       the language that they are in; '' for all
// $order          author, language, length (the longest first), updated (the latest) or title
// $skip, $limit   how many to skip, and how many to return at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE ($words = '' OR document.title_key CONTAINS $words
    OR document.author_key CONTAINS $words)
  AND $language IN ['', document.language]
WITH document
ORDER BY CASE $order
    WHEN 'author' THEN document.author_key
    WHEN 'language' THEN document.language
    WHEN 'length' THEN -document.tokens
    WHEN 'updated' THEN -document.updated_at.epochMillis
    ELSE '' END, document.title_key, document.id
SKIP $skip LIMIT $limit
WITH collect(document) AS documents
UNWIND range(0, size(documents) - 1) AS place
WITH place, documents[place] AS document
RETURN document {
  .id, .collection, .title, .author, .language, .source, .sha256, .tokens,
  .published, .edition, .reading, .left_out, .warnings, appended: coalesce(document.appended, []),
  is_off: coalesce(document.is_off, false),
  metadata: [name IN keys(document) WHERE name STARTS WITH 'meta_' | [name, document[name]]],
  created_at: toString(document.created_at), updated_at: toString(document.updated_at)
} AS document, COLLECT {
  MATCH (part:Part)-[:PART_OF]->(document)
  WHERE part.collection = document.collection
  RETURN part { .*, updated_at: toString(part.updated_at) } ORDER BY part.graph
} AS parts
ORDER BY place
