// What a key has spent is asked before each of its questions.
CYPHER 25
CREATE INDEX service_spend_key IF NOT EXISTS
FOR (n:ServiceSpend) ON (n.key)
