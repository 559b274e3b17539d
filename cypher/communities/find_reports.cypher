// The communities of a collection or of a document: the one above each, and its report.
// A report has the place of the first of its source chunks that is still there.
// $collection                      the collection to search
// $first_document, $last_document  a document's id twice, or '' and the last character for all
// $kind                            community, or collectioncommunity for a collection's own
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (community:Element {collection: $collection, kind: $kind})
WHERE community.document >= $first_document AND community.document <= $last_document
  AND community.last <= $until
OPTIONAL CALL (community) {
  MATCH (community)<-[:REPORTS]-(report:Element {collection: $collection})
  WHERE report.last <= $until
  UNWIND range(0, size(report.sources) - 1) AS place
  MATCH (chunk:Passage {id: report.sources[place]})
  WHERE chunk.collection = $collection
  MATCH (document:Document {id: chunk.document})
    USING INDEX SEEK document:Document(id)
  RETURN report, chunk, document
  ORDER BY place
  LIMIT 1
}
RETURN community.id AS community, community.chunks AS chunks, head(COLLECT {
    MATCH (community)-[:PARENT_COMMUNITY]->(parent:Element {collection: $collection})
    WHERE parent.last <= $until
    RETURN parent.id
  }) AS parent,
  report.id AS id, document.id AS document, document.title AS title,
  document.language AS language, chunk.section AS section, community.level AS level,
  chunk.start AS start, chunk.end AS end, report.title AS heading, report.summary AS summary,
  report.text AS text, report.findings AS findings, report.importance AS importance,
  report.sources AS sources
ORDER BY level, id, community
