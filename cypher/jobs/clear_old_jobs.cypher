// Deletes some of the jobs that ended before the last days, with their items, and returns how many.
// $days   how many days
// $limit  how many jobs at most
CYPHER 25
MATCH (job:ServiceJob)
WHERE job.state IN ['succeeded', 'failed', 'cancelled'] AND job.queue IS NULL
  AND job.updated < timestamp() - $days * 86400000
WITH job LIMIT $limit
OPTIONAL MATCH (job)-[:HAS_ITEM]->(item:ServiceItem)
WITH job, collect(item) AS items
FOREACH (item IN items | DETACH DELETE item)
DETACH DELETE job
RETURN count(*) AS deleted
