// Waits, at most five minutes, until every index is populated and online.
CYPHER 5
CALL db.awaitIndexes(300)
