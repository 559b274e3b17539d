// A job, its items in order, and whether whoever worked on it let it go without a word.
// $id  of the job
CYPHER 25
MATCH (job:ServiceJob {id: $id})
RETURN job {.*} AS job, job.state = 'running' AND job.lease < timestamp() AS lost,
  COLLECT {
    MATCH (job)-[:HAS_ITEM]->(item:ServiceItem)
    RETURN item {.*} ORDER BY item.index
  } AS items
