// Jobs that are new in the queue, or about to leave it, are found in their order.
CYPHER 25
CREATE INDEX service_job_queue IF NOT EXISTS
FOR (n:ServiceJob) ON (n.queue, n.place)
