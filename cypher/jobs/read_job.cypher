// A job, what it is to be made with, its items in order, whether whoever worked on it let it go
// without a word, and how many jobs it waits for, with the first of them.
// $id  of the job
CYPHER 25
MATCH (job:ServiceJob {id: $id})
// Locks it, or what is read while it is written may be half old and half new.
SET job.seen = job.seen
WITH job
WHERE job.id IS NOT NULL
RETURN job {.*} AS job, job.state = 'running' AND coalesce(job.lease < timestamp(), false) AS lost,
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
    MATCH (job)-[:HAS_ITEM]->(item:ServiceItem)
    RETURN item {.*} ORDER BY item.index
  } AS items
