// Documents of a collection by their ids or their texts.
// $collection  its name
// $ids         ids of documents
// $sha256      hashes of texts
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (one:Document {id: id}) WHERE one.collection = $collection
  RETURN one AS document
  UNION
  UNWIND $sha256 AS sha256
  MATCH (one:Document {collection: $collection, sha256: sha256})
  RETURN one AS document
}
RETURN document {
  .id, .collection, .title, .author, .language, .source, .sha256, .tokens,
  .published, .edition, .reading, .left_out, .warnings, appended: coalesce(document.appended, []),
  stated: coalesce(document.stated, '{}'),
  is_off: coalesce(document.is_off, false),
  metadata: [name IN keys(document) WHERE name STARTS WITH 'meta_' | [name, document[name]]],
  created_at: toString(document.created_at), updated_at: toString(document.updated_at)
} AS document, COLLECT {
  MATCH (part:Part)-[:PART_OF]->(document)
  WHERE part.collection = document.collection
  RETURN part { .*, updated_at: toString(part.updated_at) } ORDER BY part.graph
} AS parts
ORDER BY document.title, document.id
