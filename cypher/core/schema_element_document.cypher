// Elements are found by their document.
CYPHER 25
CREATE INDEX element_document IF NOT EXISTS
FOR (n:Element) ON (n.document)
