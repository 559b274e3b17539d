// Entities, relations, triples and facts by their ids, with all that a record prints.
// $collection  name of the collection
// $nodes       ids of the nodes
CYPHER 25
UNWIND $nodes AS id
MATCH (n:Element {id: id})
WHERE n.collection = $collection
MATCH (document:Document {id: n.document})
  USING INDEX SEEK document:Document(id)
RETURN id, n.kind AS kind, n.document AS document, document.title AS title,
  document.language AS language, n.section AS section, n.aspect AS aspect, n.level AS level,
  n.start AS start, n.end AS end, n.text AS text, n.name AS name, n.type AS type,
  n.source AS source, n.target AS target
ORDER BY document, start, id
