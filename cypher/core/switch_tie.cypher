// Adds the edges from nodes that were switched in to nodes of other parts.
// $collection  the collection of both
// $rows        {type, start, end, properties} of each edge
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (n:Passage {id: row.start}) RETURN n AS start
  UNION ALL
  MATCH (n:Element {id: row.start}) RETURN n AS start
  UNION ALL
  MATCH (n:Part {id: row.start}) RETURN n AS start
}
CALL (row) {
  MATCH (n:Passage {id: row.end}) RETURN n AS end
  UNION ALL
  MATCH (n:Element {id: row.end}) RETURN n AS end
  UNION ALL
  MATCH (n:Document {id: row.end}) RETURN n AS end
}
WITH row, start, end
WHERE start.collection = $collection AND end.collection = $collection
CREATE (start)-[edge:$(row.type)]->(end)
SET edge += row.properties
RETURN count(edge) AS edges
