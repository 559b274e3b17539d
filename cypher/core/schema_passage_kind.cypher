// A collection's passages of one kind are found, and by their document.
CYPHER 25
CREATE INDEX passage_kind IF NOT EXISTS
FOR (n:Passage) ON (n.collection, n.kind, n.document)
