// How many jobs are in each state; the index of states has all that is needed.
CYPHER 25
MATCH (job:ServiceJob)
WHERE job.state IS NOT NULL
RETURN job.state AS state, count(*) AS jobs
