// Gives a worker the job that has waited longest, if there is one, and returns its id.
// The queue's node lets one take at a time. What a job of the same collection that came before may
// change is waited for: documents may come in side by side, but not two of one source.
// $worker        who takes it
// $dead          workers that are known to have ended; a job of theirs waits, too
// $milliseconds  how long it is the worker's unless it says more
CYPHER 25
MERGE (queue:ServiceQueue {name: 'jobs'})
SET queue.taken = timestamp()
WITH timestamp() AS now
MATCH (job:ServiceJob)
WHERE job.state IN ['queued', 'running']
  AND CASE job.state
    WHEN 'queued' THEN job.not_before <= now
    ELSE job.lease < now OR job.worker IN $dead
  END
  AND NOT EXISTS {
    MATCH (before:ServiceJob)
    WHERE before.state IN ['queued', 'running'] AND before.collection = job.collection
      AND before.place < job.place
      AND (
        before.kind <> 'ingest' OR job.kind <> 'ingest'
        OR EXISTS {
          // Each item is read once: pairs of two jobs' items may be a million.
          UNWIND [before, job] AS each
          MATCH (each)-[:HAS_ITEM]->(item:ServiceItem)
          WITH item.source AS source, count(DISTINCT each) AS jobs
          WHERE jobs > 1
          RETURN source
        }
      )
  }
WITH job, now ORDER BY job.place LIMIT 1
// Looked at again with the job locked: it may just have been cancelled, or heard of.
SET job.seen = now
WITH job, now
WHERE CASE job.state
    WHEN 'queued' THEN job.not_before <= now
    WHEN 'running' THEN job.lease < now OR job.worker IN $dead
    ELSE false
  END
SET job.state = 'running', job.worker = $worker, job.lease = now + $milliseconds,
  job.attempts = job.attempts + 1, job.version = job.version + 1, job.updated = now,
  job.problem = ''
RETURN job.id AS id
