// Details are found by their document.
CYPHER 25
CREATE INDEX detail_document IF NOT EXISTS
FOR (n:Detail) ON (n.document)
