// No two jobs share an id.
CYPHER 25
CREATE CONSTRAINT service_job_id IF NOT EXISTS
FOR (n:ServiceJob) REQUIRE n.id IS UNIQUE
