// Keeps a job and its items; if there is one with its key already, that one's id and what it was
// sent with.
// $job           its properties
// $items         those of its items, in order
// $key           what a request that is sent again is known by, or ''
// $milliseconds  how long a key holds
CYPHER 25
// Who takes a job does not wait for this, nor this for them: the job is put into its place in the
// queue by whoever looks for the next one. Only two requests with keys wait for each other.
FOREACH (name IN CASE $key WHEN '' THEN [] ELSE ['keys'] END |
  MERGE (queue:ServiceQueue {name: name})
  SET queue.taken = timestamp()
)
WITH $key AS key
OPTIONAL MATCH (old:ServiceJob {key: key})
WHERE old.created < timestamp() - $milliseconds
SET old.key = null
WITH key
OPTIONAL MATCH (same:ServiceJob {key: key})
FOREACH (own IN CASE WHEN same IS NULL THEN [$job] ELSE [] END |
  CREATE (job:ServiceJob)
  SET job = own, job.created = timestamp(), job.updated = timestamp(), job.not_before = 0,
    job.attempts = 0, job.version = 1, job.state = 'queued', job.queue = 'new',
    job.cancelling = false,
    job.place = right('0000000000000' + toString(timestamp()), 14) + ' ' + own.id
  FOREACH (one IN $items |
    CREATE (item:ServiceItem)
    SET item = one
    CREATE (job)-[:HAS_ITEM]->(item)
  )
)
RETURN same.id AS id, same.said AS said
