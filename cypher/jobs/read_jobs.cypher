// Jobs, newest first, with what they are to be made with, the states of their items, the steps of
// those that are running, and how many jobs each waits for, with the first of them.
// $everything   whether of all collections
// $collections  else the names of those that they may be of
// $state        that they are in; '' is any
// $after        the place that they come after; '' is the first
// $limit        how many at most
CYPHER 25
MATCH (job:ServiceJob)
WHERE ($everything OR job.collection IN $collections) AND ($after = '' OR job.place < $after)
WITH job, job.state = 'running' AND coalesce(job.lease < timestamp(), false) AS lost
WHERE $state = '' OR $state = CASE WHEN lost THEN 'queued' ELSE job.state END
WITH job ORDER BY job.place DESC LIMIT $limit
// Locks them in the order in which other statements do, or what is read while it is written may be
// half old and half new.
WITH job ORDER BY job.place
SET job.seen = job.seen
WITH job
WHERE job.id IS NOT NULL
RETURN job {.*} AS job,
  job.state = 'running' AND coalesce(job.lease < timestamp(), false) AS lost,
  COLLECT {
    MATCH (recipe:ServiceRecipe {id: job.recipe}) RETURN recipe.made_with
  }[0] AS made_with,
  COUNT { (job)-[:WAITS_FOR]->() } AS waits,
  COLLECT {
    MATCH (job)-[:WAITS_FOR]->(before:ServiceJob)
    // Sorted before: behind the projection, `before` has no place.
    WITH before ORDER BY before.place LIMIT 1
    RETURN before {.id, .kind, .state}
  }[0] AS waits_for,
  COLLECT {
    MATCH (job)-[:HAS_ITEM]->(item:ServiceItem {state: 'running'})
    WHERE item.steps IS NOT NULL
    RETURN item.steps
  } AS steps,
  COLLECT { MATCH (job)-[:HAS_ITEM]->(item:ServiceItem) RETURN item.state } AS states
ORDER BY job.place DESC
