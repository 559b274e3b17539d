// Brings jobs into the queue that an earlier version of the program has kept, and out of it those
// that one has ended.
CYPHER 25
CALL () {
  MATCH (job:ServiceJob)
  WHERE job.state IN ['queued', 'waiting', 'running'] AND job.queue IS NULL
  SET job.queue = 'new', job.recipe = coalesce(job.recipe, '')
}
CALL () {
  MATCH (job:ServiceJob)
  WHERE job.queue IN ['ready', 'blocked'] AND NOT job.state IN ['queued', 'waiting', 'running']
  SET job.queue = 'over'
}
