// Jobs are listed by their place, newest first.
CYPHER 25
CREATE INDEX service_job_place IF NOT EXISTS
FOR (n:ServiceJob) ON (n.place)
