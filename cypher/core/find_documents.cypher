// A page of a collection's documents, by title, with what each of their graphs is.
// $collection            its name
// $after_title, $after   the title key and the id of the last document before it; '' for the first
// $limit                 how many
CYPHER 25
MATCH (document:Document)
WHERE document.collection = $collection AND (document.title_key > $after_title
  OR (document.title_key = $after_title AND document.id > $after))
WITH document
ORDER BY document.title_key, document.id
LIMIT $limit
RETURN document {
  .id, .collection, .title, .author, .language, .source, .sha256, .tokens,
  created_at: toString(document.created_at), updated_at: toString(document.updated_at)
} AS document, COLLECT {
  MATCH (part:Part)-[:PART_OF]->(document)
  RETURN part { .*, updated_at: toString(part.updated_at) } ORDER BY part.graph
} AS parts, document.title_key AS title_key
ORDER BY title_key, document.id
