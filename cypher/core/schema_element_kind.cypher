// A collection's elements of one kind are found, and by their document.
CYPHER 25
CREATE INDEX element_kind IF NOT EXISTS
FOR (n:Element) ON (n.collection, n.kind, n.document)
