// One ServiceLedger.
CYPHER 25
CREATE CONSTRAINT service_ledger_name IF NOT EXISTS
FOR (n:ServiceLedger) REQUIRE n.name IS UNIQUE
