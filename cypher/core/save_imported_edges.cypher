// Creates a slice of imported relationships, unless the slice was created before; returns how many it
// has. Documents are staged until all is imported.
// $collection  the collection
// $slice       the number of the slice
// $run         the name of the run that stages the documents
// $rows        {label, start, end, properties} of each
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'importing', slices: $slice})
SET space.slices = $slice + 1
WITH space
CALL () {
  UNWIND $rows AS row
  CALL (row) {
    MATCH (n:Passage {id: row.start}) RETURN n AS start
    UNION ALL
    MATCH (n:Element {id: row.start}) RETURN n AS start
    UNION ALL
    MATCH (n:Part {id: row.start}) RETURN n AS start
    UNION ALL
    MATCH (n:Staged {run: $run, id: row.start}) RETURN n AS start
  }
  CALL (row) {
    MATCH (n:Passage {id: row.end}) RETURN n AS end
    UNION ALL
    MATCH (n:Element {id: row.end}) RETURN n AS end
    UNION ALL
    MATCH (n:Part {id: row.end}) RETURN n AS end
    UNION ALL
    MATCH (n:Staged {run: $run, id: row.end}) RETURN n AS end
  }
  WITH row, start, end
  WHERE start.collection = $collection AND end.collection = $collection
  CREATE (start)-[edge:$(row.label)]->(end)
  SET edge += row.properties
  RETURN count(edge) AS edges
}
RETURN edges
