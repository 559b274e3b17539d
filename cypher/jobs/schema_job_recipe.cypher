// The next job is found that a worker does as it was begun.
CYPHER 25
CREATE INDEX service_job_recipe IF NOT EXISTS
FOR (n:ServiceJob) ON (n.recipe, n.queue, n.place)
