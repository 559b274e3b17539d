// The reports of the communities that some entities are in, by the number of them inside.
// $collection        the collection to search
// $nodes             ids of the entities
// $lowest, $highest  lowest and highest level
// $limit             maximum number of reports
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $nodes AS id
MATCH (entity:Element {id: id})
  USING INDEX SEEK entity:Element(id)
WHERE entity.collection = $collection
MATCH (entity)<-[:HAS_MEMBER]-(community:Element {collection: $collection, kind: 'community'})
  <-[:REPORTS]-(report:Element {collection: $collection})
WHERE $lowest <= report.level <= $highest AND report.last <= $until
WITH report, count(DISTINCT entity) AS inside
ORDER BY inside DESC, report.importance DESC, report.id
LIMIT $limit
MATCH (document:Document {id: report.document})
  USING INDEX SEEK document:Document(id)
RETURN report.id AS id, document.id AS document, document.title AS title,
  document.language AS language, report.section AS section, report.level AS level,
  report.start AS start, report.end AS end, report.title AS heading, report.text AS text,
  inside
ORDER BY inside DESC, report.importance DESC, id
