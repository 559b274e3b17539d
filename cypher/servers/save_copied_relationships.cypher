// Creates a slice of copied relationships, unless the slice was created before; returns whether it was
// now, and how many it has.
// $collection  the collection
// $slice       the number of the slice
// $cursor      how far the collection is copied with it: phase, document, after
// $rows        {type, start, end, properties} of each
CYPHER 25
MATCH (copy:CollectionCopy {name: $collection, slice: $slice})
SET copy += $cursor, copy.slice = $slice + 1
WITH copy
CALL () {
  UNWIND $rows AS row
  CALL (row) {
    MATCH (n:Passage {id: row.start}) RETURN n AS start
    UNION ALL
    MATCH (n:Element {id: row.start}) RETURN n AS start
    UNION ALL
    MATCH (n:Part {id: row.start}) RETURN n AS start
    UNION ALL
    MATCH (n:Document {id: row.start}) RETURN n AS start
  }
  CALL (row) {
    MATCH (n:Passage {id: row.end}) RETURN n AS end
    UNION ALL
    MATCH (n:Element {id: row.end}) RETURN n AS end
    UNION ALL
    MATCH (n:Part {id: row.end}) RETURN n AS end
    UNION ALL
    MATCH (n:Document {id: row.end}) RETURN n AS end
  }
  WITH row, start, end
  WHERE start.collection = $collection AND end.collection = $collection
  CREATE (start)-[edge:$(row.type)]->(end)
  SET edge += row.properties
  RETURN count(edge) AS edges
}
RETURN count(copy) AS slices, sum(edges) AS edges
