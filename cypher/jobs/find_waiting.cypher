// Whether there may be something to do for a worker, and who works on jobs now.
// $recipes  how this worker does jobs
// $ids      of jobs that it may take, however they were begun
CYPHER 25
RETURN EXISTS {
    MATCH (job:ServiceJob) USING INDEX job:ServiceJob(queue, place)
    WHERE job.queue IN ['new', 'over'] AND job.place >= ''
  } OR EXISTS {
    MATCH (job:ServiceJob) USING INDEX job:ServiceJob(recipe, queue, place)
    WHERE job.recipe IN $recipes AND job.queue = 'ready' AND job.place >= ''
      AND CASE job.state
        WHEN 'queued', 'waiting' THEN job.not_before <= timestamp()
        ELSE job.lease < timestamp()
      END
  } OR EXISTS {
    MATCH (job:ServiceJob)
    WHERE job.id IN $ids AND job.queue = 'ready'
      AND CASE job.state
        WHEN 'queued', 'waiting' THEN job.not_before <= timestamp()
        ELSE job.lease < timestamp()
      END
  } AS due,
  COLLECT {
    MATCH (job:ServiceJob) USING INDEX job:ServiceJob(state)
    WHERE job.state = 'running' AND (job.recipe IN $recipes OR job.id IN $ids)
    RETURN job.worker
  } AS workers
