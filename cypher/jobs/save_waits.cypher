// Puts new jobs into their places in the queue, and returns how many: each with WAITS_FOR to the jobs
// before it that it has to wait for. So a job is taken without a look at the others.
// What builds, embeds or removes waits for all of its collection that came before, and what comes
// after waits for that. Documents and annotations come in side by side, but not two of one source.
// $ids  theirs, in the order in which they came
CYPHER 25
MERGE (queue:ServiceQueue {name: 'jobs'})
SET queue.taken = timestamp()
WITH queue
UNWIND $ids AS id
MATCH (new:ServiceJob {id: id})
WITH new ORDER BY new.place
CALL (new) {
  // First, so that what is read afterwards is read with the job locked.
  SET new.seen = timestamp()
  WITH new AS job
  WHERE job.queue = 'new'
  // One that is asked for again before it has left the queue has its place still: others wait for it,
  // or it for them, or it is the last that came.
  WITH job, EXISTS { (job)-[:WAITS_FOR]-() } OR coalesce(job.is_last, false) AS is_placed
  CALL (job, is_placed) {
    WITH job, is_placed
    WHERE NOT is_placed AND NOT job.kind IN ['ingest', 'annotate']
    // Whatever nothing waits for yet: it waits itself for all that came before it.
    MATCH (last:ServiceJob {collection: job.collection, is_last: true})
      USING INDEX last:ServiceJob(collection, is_last)
    WHERE last <> job
    WITH job, collect(last) AS lasts
    FOREACH (last IN lasts |
      SET last.is_last = null
      CREATE (job)-[:WAITS_FOR]->(last)
    )
  }
  CALL (job, is_placed) {
    WITH job, is_placed
    WHERE NOT is_placed AND job.kind IN ['ingest', 'annotate']
    MATCH (last:ServiceJob {collection: job.collection, is_last: true})
      USING INDEX last:ServiceJob(collection, is_last)
    WHERE last <> job
    WITH job, last LIMIT 1
    // The last that was about all of the collection: all that came after it wait for it.
    WITH job, CASE
        WHEN NOT last.kind IN ['ingest', 'annotate'] THEN [last]
        ELSE COLLECT {
          MATCH (last)-[:WAITS_FOR]->(before:ServiceJob)
          WHERE NOT before.kind IN ['ingest', 'annotate']
          RETURN before
        }
      END AS barriers
    FOREACH (barrier IN barriers |
      SET barrier.is_last = null
      CREATE (job)-[:WAITS_FOR]->(barrier)
    )
  }
  CALL (job, is_placed) {
    WITH job, is_placed
    WHERE NOT is_placed AND job.kind IN ['ingest', 'annotate']
    MATCH (job)-[:HAS_ITEM]->(item:ServiceItem)
    // Of all that bring in a source, or annotations of it, the last holds it.
    OPTIONAL MATCH (held:ServiceItem {holds: job.collection + '/' + item.source})
      USING INDEX held:ServiceItem(holds)
    OPTIONAL MATCH (held)<-[:HAS_ITEM]-(before:ServiceJob)
    WHERE before <> job
    WITH job, collect(item) AS items, collect(held) AS helds, collect(DISTINCT before) AS befores
    FOREACH (held IN helds | SET held.holds = null)
    FOREACH (item IN items | SET item.holds = job.collection + '/' + item.source)
    FOREACH (before IN befores |
      SET before.is_last = null
      CREATE (job)-[:WAITS_FOR]->(before)
    )
  }
  SET job.is_last = CASE WHEN is_placed THEN job.is_last ELSE true END,
    job.queue = CASE WHEN EXISTS { (job)-[:WAITS_FOR]->() } THEN 'blocked' ELSE 'ready' END
  RETURN count(job) AS placed
}
RETURN sum(placed) AS jobs
