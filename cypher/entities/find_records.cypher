// Entities, relations, triples and facts by their ids, with all that a record prints.
// $collection  name of the collection
// $nodes       ids of the nodes
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $nodes AS id
MATCH (n:Element {id: id})
  USING INDEX SEEK n:Element(id)
WHERE n.collection = $collection AND n.since <= $until
MATCH (document:Document {id: n.document})
  USING INDEX SEEK document:Document(id)
RETURN id, n.kind AS kind, n.document AS document, document.title AS title,
  document.language AS language, n.section AS section, n.aspect AS aspect, n.level AS level,
  n.start AS start, n.end AS end, n.text AS text, n.name AS name, n.type AS type,
  n.source AS source, n.target AS target, n.subject AS first_name, n.object AS second_name,
  head(COLLECT {
    MATCH (n)-[:SOURCE|SUBJECT]->(end:Entity {collection: $collection}) RETURN end.id ORDER BY end.id
  }) AS first,
  head(COLLECT {
    MATCH (n)-[:TARGET|OBJECT]->(end:Entity {collection: $collection}) RETURN end.id ORDER BY end.id
  }) AS second
ORDER BY document, start, id
