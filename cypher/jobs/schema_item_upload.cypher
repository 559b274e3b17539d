// The items that need an uploaded file are found by it.
CYPHER 25
CREATE INDEX service_item_upload IF NOT EXISTS
FOR (n:ServiceItem) ON (n.upload)
