// How many jobs are in each state.
CYPHER 25
MATCH (job:ServiceJob)
RETURN job.state AS state, count(*) AS jobs
