// Jobs that wait are found among all that there ever were.
CYPHER 25
CREATE INDEX service_job_state IF NOT EXISTS
FOR (n:ServiceJob) ON (n.state)
