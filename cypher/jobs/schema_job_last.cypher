// The jobs of a collection are found that nothing waits for yet.
CYPHER 25
CREATE INDEX service_job_last IF NOT EXISTS
FOR (n:ServiceJob) ON (n.collection, n.is_last)
