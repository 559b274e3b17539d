// Keeps how far a job is, and it the worker's for longer; nothing where it is another's by now.
// $id            of the job
// $worker        who works on it
// $job           properties of it that have changed
// $items         those of its items that have, whole
// $news          1, or 0 where nothing has changed that anyone would want to see
// $milliseconds  how long it is the worker's unless it says more
// $wait          milliseconds that it is to wait, if it is let go
CYPHER 25
MATCH (job:ServiceJob {id: $id})
// First, so that what is read afterwards is read with the job locked.
SET job.seen = timestamp()
WITH job
WHERE job.state = 'running' AND job.worker = $worker
SET job += $job, job.not_before = timestamp() + $wait, job.version = job.version + $news,
  job.updated = timestamp()
// What nobody works on is nobody's, or whoever reads it as it is taken takes it for let go.
SET job.queue = CASE WHEN job.state IN ['queued', 'waiting', 'running'] THEN job.queue ELSE 'over' END,
  job.lease = CASE job.state WHEN 'running' THEN timestamp() + $milliseconds END
FOREACH (one IN $items |
  MERGE (item:ServiceItem {id: one.id})
  SET item += one
  MERGE (job)-[:HAS_ITEM]->(item)
)
RETURN job.cancelling AS cancelling
