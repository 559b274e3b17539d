// The ids of jobs that are at one stage of the queue, those first that came first.
// By itself, as a statement that also writes would read all of them before its first write.
// $queue  the stage: 'new', or 'over'
// $limit  how many at most
CYPHER 25
MATCH (job:ServiceJob) USING INDEX job:ServiceJob(queue, place)
WHERE job.queue = $queue AND job.place >= ''
RETURN job.id AS id
ORDER BY job.queue, job.place
LIMIT $limit
