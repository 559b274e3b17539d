// The last job is found that brings a source of a collection in.
CYPHER 25
CREATE INDEX service_item_holds IF NOT EXISTS
FOR (n:ServiceItem) ON (n.holds)
