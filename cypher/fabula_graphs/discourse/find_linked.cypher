// The chunks that are linked to some chunks, in whichever direction, and in which sense.
// $collection  the collection to stay in
// $nodes       ids of chunks
// $until       how many characters of the document the reader has read
CYPHER 25
UNWIND $nodes AS of
MATCH (chunk:Passage {id: of})
  USING INDEX SEEK chunk:Passage(id)
WHERE chunk.collection = $collection
MATCH (chunk)<-[:ARG1|ARG2]-(link:Link {collection: $collection})
  -[:ARG1|ARG2]->(other:Chunk {collection: $collection})
WHERE other <> chunk AND link.last <= $until
RETURN of, link.id AS link, link.sense AS sense, other.id AS id, other.index AS index,
  abs(other.index - chunk.index) AS distance
ORDER BY of, index, link
