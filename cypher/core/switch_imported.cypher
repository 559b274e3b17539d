// Makes an imported collection visible, which changes only the labels of its documents; returns how
// many documents these are, and no row if it is not being imported.
// $collection  its name
// $run         the name of the run that staged the documents
// $properties  the properties of its node
CYPHER 25
MATCH (space:Collection {name: $collection, phase: 'importing'})
SET space = $properties
WITH space
CALL () {
  MATCH (n:Staged {run: $run})
  WHERE n.id >= ''
  // All are found before the first loses what it is found by.
  WITH collect(n) AS nodes
  UNWIND nodes AS n
  SET n:Document
  REMOVE n:Staged, n.run
  RETURN count(n) AS documents
}
RETURN documents
