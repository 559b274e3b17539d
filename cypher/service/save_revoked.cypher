// A key is good for nothing from now on: who signed in with it is signed out, and no job of it is
// begun, or goes on for longer than the calls that are under way.
// $id  what it is known by
CYPHER 25
MATCH (key:ServiceKey {id: $id})
SET key.revoked = coalesce(key.revoked, datetime())
WITH key
OPTIONAL MATCH (session:ServiceSession {key: key.id})
DETACH DELETE session
WITH DISTINCT key
CALL (key) {
  MATCH (job:ServiceJob)
  WHERE job.state IN ['queued', 'waiting', 'running', 'paused'] AND job.created_by = key.id
  // First, so that what is read afterwards is read with the job locked.
  SET job.seen = timestamp()
  WITH job, job.state = 'running' AS runs
  WHERE job.state IN ['queued', 'waiting', 'running', 'paused']
  SET job.cancelling = runs, job.state = CASE WHEN runs THEN 'running' ELSE 'cancelled' END,
    job.queue = CASE WHEN runs THEN job.queue ELSE 'over' END,
    job.problem = 'The key that it was begun with is revoked.',
    job.version = job.version + 1, job.updated = timestamp()
  FOREACH (item IN CASE WHEN runs THEN [] ELSE COLLECT {
      MATCH (job)-[:HAS_ITEM]->(item:ServiceItem)
      WHERE item.state IN ['queued', 'running'] RETURN item
    } END |
    SET item.state = 'cancelled', item.error = ''
  )
}
RETURN key.id AS id
