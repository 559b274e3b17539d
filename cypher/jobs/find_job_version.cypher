// How often a job was written, its state, who works on it, and whether that is to end.
// $id  of the job
CYPHER 25
MATCH (job:ServiceJob {id: $id})
RETURN job.version AS version, job.state AS state, job.worker AS worker, job.cancelling AS cancelling,
  job.state = 'running' AND coalesce(job.lease < timestamp(), false) AS lost
