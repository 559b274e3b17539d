// Documents of a collection that a name matches, with the rank of the match: 1 by an id or the
// beginning of one, 2 by their source, 3 by their title or file, 4 by a part of their title.
// $collection      its name
// $id              an id or the beginning of one, of at least four characters, or ''
// $sources         their possible sources
// $key             the name, folded (fabula.text.folding)
// $part            the same if a part of a title is enough, or ''
// $limit           how many of each rank
CYPHER 25
CALL () {
  MATCH (one:Document) WHERE $id <> '' AND one.id STARTS WITH $id
    AND one.collection = $collection
  RETURN one AS document, 1 AS rank LIMIT $limit
  UNION ALL
  MATCH (one:Document) WHERE one.collection = $collection AND one.source IN $sources
  RETURN one AS document, 2 AS rank LIMIT $limit
  UNION ALL
  MATCH (one:Document) WHERE one.collection = $collection AND one.title_key = $key
  RETURN one AS document, 3 AS rank LIMIT $limit
  UNION ALL
  MATCH (one:Document) WHERE one.collection = $collection AND one.file_key = $key
  RETURN one AS document, 3 AS rank LIMIT $limit
  UNION ALL
  MATCH (one:Document) WHERE one.collection = $collection AND one.stem_key = $key
  RETURN one AS document, 3 AS rank LIMIT $limit
  UNION ALL
  MATCH (one:Document) USING TEXT INDEX one:Document(title_key)
  WHERE $part <> '' AND one.title_key CONTAINS $part AND one.collection = $collection
  RETURN one AS document, 4 AS rank LIMIT $limit
}
WITH document, min(rank) AS rank
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
} AS parts, rank
ORDER BY rank, document.title, document.id
