// Lets jobs that have ended leave the queue, and returns how many. What waited for them alone may be
// taken from then on.
// One that was cancelled while it waited stays for as long as it would have waited: what came after
// it waits for all that came before it, by way of it.
// $ids  of those that have ended
CYPHER 25
MERGE (queue:ServiceQueue {name: 'jobs'})
SET queue.taken = timestamp()
WITH queue
UNWIND $ids AS id
MATCH (ended:ServiceJob {id: id})
// First, so that what is read afterwards is read with the job locked.
SET ended.seen = timestamp()
WITH ended
WHERE ended.queue = 'over'
SET ended.queue = CASE WHEN EXISTS { (ended)-[:WAITS_FOR]->() } THEN 'gone' END
WITH collect(ended) AS jobs
CALL (jobs) {
  UNWIND jobs AS job
  WITH job
  WHERE job.queue IS NULL
  SET job.is_last = null
  WITH job
  MATCH (job)-[:HAS_ITEM]->(item:ServiceItem)
  SET item.holds = null
}
CALL (jobs) {
  UNWIND jobs AS job
  WITH job
  WHERE job.queue IS NULL
  MATCH (job)<-[waits:WAITS_FOR]-(next:ServiceJob)
  DELETE waits
  WITH DISTINCT next
  WHERE NOT EXISTS { (next)-[:WAITS_FOR]->() }
  SET next.seen = timestamp()
  WITH next
  SET next.queue = CASE next.queue
    WHEN 'blocked' THEN 'ready'
    WHEN 'gone' THEN 'over'
    ELSE next.queue
  END
}
RETURN size(jobs) AS jobs
