// Pauses the jobs that have not ended, and returns how many. One that was about to be cancelled is
// cancelled. Whoever works on one of them finds that it is not theirs any more, and stops.
// $problem  why they are paused
CYPHER 25
MATCH (job:ServiceJob)
WHERE job.state IN ['queued', 'waiting', 'running']
SET job.state = CASE WHEN job.cancelling THEN 'cancelled' ELSE 'paused' END,
  job.problem = CASE WHEN job.cancelling THEN '' ELSE $problem END,
  job.queue = 'over', job.worker = null, job.lease = null, job.version = job.version + 1,
  job.updated = timestamp()
FOREACH (item IN COLLECT {
    MATCH (job)-[:HAS_ITEM]->(item:ServiceItem) WHERE item.state = 'running' RETURN item
  } |
  SET item.state = 'queued', item.steps = '{}'
)
RETURN count(CASE job.state WHEN 'paused' THEN job END) AS jobs
