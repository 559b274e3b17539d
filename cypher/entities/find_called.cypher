// The entities that go by a name: what is told of each, its names, its relations, its places.
// $collection  the collection to look in
// $document    a document's id, or '' for all
// $called      the name in lower case, without full stops, its apostrophes straight
// $limit       relations and places of each, at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (one:Element {document: document.id})
WHERE one:Entity AND one.collection = $collection
  AND (one.key = $called OR any(form IN one.names
    WHERE replace(replace(toLower(form), '’', "'"), '.', '') = $called))
RETURN one.id AS id, document.id AS document, document.title AS title, one.name AS name,
  one.type AS type, one.text AS text, one.by AS by, one.mentions AS mentions,
  one.chunks AS chunks, one.degree AS degree, one.names AS names, one.counts AS counts,
  one.merged_by AS merged_by,
  COLLECT {
    MATCH (one)<-[:SOURCE|TARGET]-(relation:Relation {collection: $collection})
      -[:SOURCE|TARGET]->(other:Entity {collection: $collection})
    WHERE other <> one
    RETURN {name: other.name, type: other.type, chunks: relation.count,
            keywords: relation.keywords, text: relation.text}
    ORDER BY relation.count DESC, other.name, other.id
    LIMIT $limit
  } AS relations,
  COLLECT {
    MATCH (one)-[said:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
    WITH chunk.section AS section, min(chunk.start) AS start, max(chunk.end) AS end,
      count(*) AS chunks, sum(said.count) AS mentions
    RETURN {section: section, start: start, end: end, chunks: chunks, mentions: mentions}
    ORDER BY start
    LIMIT $limit
  } AS places
ORDER BY mentions DESC, title, name, id
