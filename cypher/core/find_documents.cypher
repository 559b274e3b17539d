// A page of a collection's documents in order of their titles, with the parts of their graphs.
// $collection            its name
// $after_title, $after   the title key and the id of the last document before it; '' for the first
// $limit                 how many
CYPHER 25
// In the order of the index, so that only the page is read: an OR would be planned as two scans of
// all documents and a sort.
MATCH (document:Document) USING INDEX document:Document(collection, title_key, id)
WHERE document.collection = $collection AND document.title_key >= $after_title
  AND document.id >= ''
  AND CASE document.title_key WHEN $after_title THEN document.id > $after ELSE true END
WITH document
ORDER BY document.collection, document.title_key, document.id
LIMIT $limit
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
} AS parts, document.title_key AS title_key
ORDER BY title_key, document.id
