// What the text up to a reader's place says of some entities, relations, triples and facts: how each
// chunk names them and what it says of them, in text order, and how many relations they have there.
// Of what rests on no later text, the names are those of the whole.
// $collection  name of the collection
// $nodes       ids of the nodes
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $nodes AS id
MATCH (n:Element {id: id})
  USING INDEX SEEK n:Element(id)
WHERE n.collection = $collection AND n.since <= $until
CALL (n) {
  OPTIONAL MATCH (n)-[part:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
  WHERE chunk.last <= $until
  WITH part, chunk
  ORDER BY chunk.start
  RETURN collect(part {.names, .said, .keywords, .words}) AS parts
}
RETURN id, n.kind AS kind, n.name AS name, n.last <= $until AS whole, parts, COUNT {
    MATCH (n)<-[:SOURCE|TARGET]-(relation:Relation {collection: $collection})
    WHERE relation.since <= $until
  } AS relations
ORDER BY id
