// Brings a job from one of some states into another, with its items that are in some states.
// Returns its id, or nothing where it is in none of them.
// $id     of the job
// $from   the states
// $job    properties of it that change
// $items  the states of items that change
// $to     the state that those come into
CYPHER 25
MATCH (job:ServiceJob {id: $id})
// First, so that what is read afterwards is read with the job locked.
SET job.seen = timestamp()
WITH job
WHERE job.state IN $from
SET job += $job, job.version = job.version + 1, job.updated = timestamp()
SET job.queue = CASE job.state WHEN 'queued' THEN 'new' WHEN 'running' THEN job.queue ELSE 'over' END
FOREACH (item IN COLLECT {
    MATCH (job)-[:HAS_ITEM]->(item:ServiceItem) WHERE item.state IN $items RETURN item
  } |
  SET item.state = $to, item.error = ''
)
RETURN job.id AS id
