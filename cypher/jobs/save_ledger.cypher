// The id of the ledger that is kept in this graph, which is made where there is none.
CYPHER 25
MERGE (ledger:ServiceLedger {name: 'ledger'})
ON CREATE SET ledger.id = randomUUID()
RETURN ledger.id AS id
