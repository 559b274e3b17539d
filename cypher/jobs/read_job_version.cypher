// How often a job was written, and whether whoever worked on it let it go without a word.
// $id  of the job
CYPHER 25
MATCH (job:ServiceJob {id: $id})
// Locks it, or what is read while it is written may be half old and half new.
SET job.seen = job.seen
WITH job
WHERE job.id IS NOT NULL
RETURN job.version AS version,
  job.state = 'running' AND coalesce(job.lease < timestamp(), false) AS lost
