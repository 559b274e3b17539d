// A request that is sent again with its key makes no second job.
CYPHER 25
CREATE CONSTRAINT service_job_key IF NOT EXISTS
FOR (n:ServiceJob) REQUIRE n.key IS UNIQUE
