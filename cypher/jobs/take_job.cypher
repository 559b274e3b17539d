// Gives a worker the job that has waited longest, of those that have nothing to wait for, and
// returns its id.
// The queue's node lets one take at a time.
// $worker        who takes it
// $recipes       how this worker does jobs; those that were begun otherwise are left
// $ids           of jobs that may be taken, however they were begun
// $dead          workers that are known to have ended; a job of theirs waits, too
// $milliseconds  how long it is the worker's unless it says more
CYPHER 25
MERGE (queue:ServiceQueue {name: 'jobs'})
SET queue.taken = timestamp()
WITH timestamp() AS now
CALL (now) {
  UNWIND $recipes AS recipe
  CALL (recipe, now) {
    MATCH (job:ServiceJob) USING INDEX job:ServiceJob(recipe, queue, place)
    WHERE job.recipe = recipe AND job.queue = 'ready' AND job.place >= ''
      AND CASE job.state
        WHEN 'queued', 'waiting' THEN job.not_before <= now
        WHEN 'running' THEN job.lease < now OR job.worker IN $dead
        ELSE false
      END
    RETURN job ORDER BY job.recipe, job.queue, job.place LIMIT 1
  }
  RETURN job
  UNION
  UNWIND $ids AS id
  MATCH (job:ServiceJob {id: id})
  WHERE job.queue = 'ready'
    AND CASE job.state
      WHEN 'queued', 'waiting' THEN job.not_before <= now
      WHEN 'running' THEN job.lease < now OR job.worker IN $dead
      ELSE false
    END
  RETURN job
}
WITH job, now ORDER BY job.place LIMIT 1
// Looked at again with the job locked: it may just have been cancelled, or heard of.
SET job.seen = now
WITH job, now
WHERE CASE job.state
    WHEN 'queued', 'waiting' THEN job.not_before <= now
    WHEN 'running' THEN job.lease < now OR job.worker IN $dead
    ELSE false
  END
SET job.state = 'running', job.worker = $worker, job.lease = now + $milliseconds,
  job.attempts = job.attempts + 1, job.version = job.version + 1, job.updated = now,
  job.problem = ''
RETURN job.id AS id
