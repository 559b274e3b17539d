// The jobs that somebody could work on, or works on: whether they are due, and who has them.
CYPHER 25
MATCH (job:ServiceJob)
WHERE job.state IN ['queued', 'running']
RETURN job.worker AS worker,
  CASE job.state
    WHEN 'queued' THEN job.not_before <= timestamp()
    ELSE job.lease < timestamp()
  END AS due
