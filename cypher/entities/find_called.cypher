// The entities that have a name, with their descriptions, names, relations and places.
// $collection  name of the collection
// $document    id of a document, or '' for all
// $called      the name in lower case, without full stops, its apostrophes straight; or an id
// $limit       maximum number of relations, and of places, of each
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (entity:Element {document: document.id})
WHERE entity:Entity AND entity.collection = $collection AND entity.since <= $until
  AND ($called IN [entity.key, entity.id] OR any(form IN entity.names
    WHERE replace(replace(toLower(form), '’', "'"), '.', '') = $called))
RETURN entity.id AS id, document.id AS document, document.title AS title, entity.name AS name,
  entity.key AS key, entity.type AS type, entity.text AS text, entity.by AS by, entity.mentions AS mentions,
  entity.chunks AS chunks, entity.degree AS degree, entity.names AS names, entity.counts AS counts,
  entity.merged_by AS merged_by,
  COLLECT {
    MATCH (entity)<-[:SOURCE|TARGET]-(relation:Relation {collection: $collection})
      -[:SOURCE|TARGET]->(other:Entity {collection: $collection})
    WHERE other <> entity AND relation.since <= $until AND other.since <= $until
    WITH relation, other, CASE WHEN relation.last <= $until THEN [] ELSE COLLECT {
        MATCH (relation)-[part:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
        WHERE chunk.last <= $until
        RETURN part ORDER BY chunk.start
      } END AS parts
    WITH other, CASE WHEN relation.last <= $until
      THEN relation {chunks: relation.count, .keywords, .text}
      ELSE {chunks: size(parts), text: reduce(text = '', part IN parts | text
          + CASE WHEN part.said = '' OR text CONTAINS part.said THEN '' ELSE part.said + '\n' END),
        keywords: reduce(words = [], part IN parts | words
          + [word IN part.keywords WHERE NOT word IN words])} END AS known
    RETURN known {other: other.id, name: other.name, type: other.type, .chunks, .keywords, .text}
    ORDER BY known.chunks DESC, other.name, other.id
    LIMIT $limit
  } AS relations,
  COLLECT {
    MATCH (entity)-[mention:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
    WHERE chunk.last <= $until
    WITH chunk.section AS section, min(chunk.start) AS start, max(chunk.end) AS end,
      count(*) AS chunks, sum(mention.count) AS mentions
    RETURN {section: section, start: start, end: end, chunks: chunks, mentions: mentions}
    ORDER BY start
    LIMIT $limit
  } AS places
ORDER BY mentions DESC, title, name, id
