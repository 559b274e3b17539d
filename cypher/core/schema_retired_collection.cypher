// What switches have hidden is counted and deleted by its collection.
CYPHER 25
CREATE INDEX retired_collection IF NOT EXISTS
FOR (n:Retired) ON (n.collection)
