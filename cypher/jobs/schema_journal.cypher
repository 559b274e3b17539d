// One ServiceJournal of each process that has spent anything.
CYPHER 25
CREATE CONSTRAINT service_journal_id IF NOT EXISTS
FOR (n:ServiceJournal) REQUIRE n.id IS UNIQUE
